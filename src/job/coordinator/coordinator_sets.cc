// A set, from the first offer until it is drained or given up:
//   1. the first part makes the set, and the store is asked what it has under its name;
//   2. when all ranks are there, and the store has not just these files already (a coordinator that died may have
//      committed them, and told nobody), the set waits to be drained, or is skipped;
//   3. without them within the set timeout, it is given up.
#include <algorithm>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"
#include "store/names.h"

namespace forebay::job {
namespace {

constexpr size_t kMaxSetsPerAgent = 256;
constexpr size_t kMaxHistory = 256;

using Set = Coordinator::Impl::Set;

bool is_among(uint64_t hash, const StoredSet& stored) {
  return std::ranges::binary_search(stored.sources, hash_text(hash));
}

// Of two sets: by their steps, else by the newest of their files.
bool is_newer(const Set& a, const Set& b) {
  if (a.step && b.step) return std::pair(*a.step, a.id) > std::pair(*b.step, b.id);
  const auto newest = [](const Set& set) {
    std::pair<int64_t, uint32_t> time{};
    for (const auto& [agent, part] : set.parts)
      for (const OfferedFile& one : part.files) time = std::max(time, {one.file->mtime_s, one.file->mtime_ns});
    return time;
  };
  return std::pair(newest(a), a.id) > std::pair(newest(b), b.id);
}

}  // namespace

void Coordinator::Impl::news(const Set& set, const Part& part, wire::SetState state, const std::string& stored_as,
                             const std::string& message) {
  if (part.session == 0) return;
  wire::SetNewsT news;
  news.set = set.name;
  news.exposure = part.exposure;
  news.state = state;
  news.stored_as = stored_as;
  news.message = message;
  news.tally = std::make_unique<wire::TallyT>(tally());
  send(part.session, std::move(news));
}

void Coordinator::Impl::refuse(SessionId id, const wire::OfferT& offered, const std::string& why) {
  warn(fmt::format("an offer of {} is refused: {}", offered.set, why));
  wire::SetNewsT news;
  news.set = offered.set;
  news.exposure = offered.exposure;
  news.state = wire::SetState::failed;
  news.message = why;
  send(id, std::move(news));
}

void Coordinator::Impl::offer(SessionId id, Session& session, wire::OfferT offered) {
  if (const auto named = store::check_job_name(offered.set); !named)
    return refuse(id, offered, named.error().message());
  const auto known = set_ids.find(offered.set);
  const bool has_part = known != set_ids.end() && session.sets.contains(known->second);
  if (!has_part && session.sets.size() >= kMaxSetsPerAgent)
    return refuse(id, offered, fmt::format("{} sets of one agent are not drained yet", kMaxSetsPerAgent));
  if (known != set_ids.end() && sets.at(known->second).phase == Set::Phase::committing) {
    Set& set = sets.at(known->second);
    std::erase_if(set.later, [&](const auto& one) { return one.first == id; });
    set.later.emplace_back(id, std::move(offered));
    return;
  }
  auto part = make_part(offered);
  if (!part) return refuse(id, offered, part.error().message());
  take_part(id, session, offered, *std::move(part));
}

void Coordinator::Impl::take_part(SessionId id, Session& session, wire::OfferT& offered, Part part) {
  part.session = id;
  part.node = session.agent->node;
  part.host = session.agent->host;
  part.addresses = session.agent->addresses;
  part.stage = session.agent->stage;
  if (!set_ids.contains(offered.set) && answer_from_history(id, offered.set, part)) return;
  Set& set = set_named(offered.set);
  const uint64_t number = set.id;
  session.sets.insert(number);
  if (set.is_drained()) {
    const auto same = set.parts.find(session.key);
    if (same != set.parts.end() && is_same(same->second, part)) {
      renew(same->second, std::move(part));
      set.away.erase(session.key);
      return update_ready(set, same->second);
    }
    warn(fmt::format("set {} was changed on {} while it was drained: it is drained anew", set.name, part.host));
    undo_drain(set);
  }
  if (offered.step) set.step = *offered.step;
  put_part(set, session.key, std::move(part));
  consider(number);
}

bool Coordinator::Impl::answer_from_history(SessionId id, const std::string& name, const Part& part) {
  const auto is_same = [&](const FinishedSet& fate) {
    return fate.name == name && std::ranges::binary_search(fate.hashes, part.hash);
  };
  const auto found = std::ranges::find_if(history.rbegin(), history.rend(), is_same);
  if (found == history.rend()) return false;
  wire::SetNewsT news;
  news.set = name;
  news.exposure = part.exposure;
  news.state = found->state;
  news.stored_as = found->stored_as;
  news.message = found->message;
  news.tally = std::make_unique<wire::TallyT>(tally());
  send(id, std::move(news));
  return true;
}

Coordinator::Impl::Set& Coordinator::Impl::set_named(const std::string& name) {
  if (const auto known = set_ids.find(name); known != set_ids.end()) return sets.at(known->second);
  const uint64_t id = next_set++;
  set_ids.emplace(name, id);
  Set& set = sets[id];
  set.id = id;
  set.name = name;
  set.since = now;
  set.steps = Steps(now);
  look_up(set);
  return set;
}

void Coordinator::Impl::put_part(Set& set, const std::string& key, Part part) {
  if (set.phase == Set::Phase::waiting) set.phase = Set::Phase::incomplete;
  drop_part(set, key);
  set.coverage.add(part.covered);
  if (part.ranks != 0) set.ranks = part.ranks;
  set.parts.emplace(key, std::move(part));
}

void Coordinator::Impl::drop_part(Set& set, const std::string& key) {
  const auto found = set.parts.find(key);
  if (found == set.parts.end()) return;
  set.coverage.remove(found->second.covered);
  set.parts.erase(found);
}

void Coordinator::Impl::withdraw(Session& session, const wire::WithdrawnT& withdrawn) {
  const auto known = set_ids.find(withdrawn.set);
  if (known == set_ids.end()) return;
  Set& set = sets.at(known->second);
  std::erase_if(set.later, [&](const auto& one) { return one.second.exposure == withdrawn.exposure; });
  const auto part = set.parts.find(session.key);
  if (part == set.parts.end() || part->second.exposure != withdrawn.exposure) return;
  if (set.phase == Set::Phase::committing) return;  // all of it was read before
  const std::string why = fmt::format("{}: {}", part->second.host, withdrawn.reason);
  if (set.is_drained()) return give_up(set.id, "its files were withdrawn by " + why);
  info(fmt::format("set {}: an offer was withdrawn by {}", set.name, why));
  drop_part(set, session.key);
  session.sets.erase(set.id);
  set.phase = Set::Phase::incomplete;
  consider(set.id);
}

void Coordinator::Impl::agent_left(const Session& session) {
  for (const uint64_t id : session.sets) {
    const auto found = sets.find(id);
    if (found == sets.end()) continue;
    Set& set = found->second;
    const auto part = set.parts.find(session.key);
    if (part == set.parts.end()) continue;
    if (set.is_drained()) {
      part->second.session = 0;
      set.away[session.key] = now;
      update_ready(set, part->second);
      continue;
    }
    drop_part(set, session.key);
    set.phase = Set::Phase::incomplete;
    consider(id);
  }
}

void Coordinator::Impl::look_up(Set& set) {
  set.asked = true;
  set.store_waits = false;
  set.stored.reset();
  out.commands.push_back(LookUp{set.id, set.name, options.origin.series});
}

void Coordinator::Impl::answered(LookedUp answer) {
  const auto found = sets.find(answer.set);
  if (found == sets.end()) return;
  Set& set = found->second;
  set.asked = false;
  if (!answer.stored) return store_failed(set, answer.stored.error());
  set.store_retry.succeeded();
  set.store_error.clear();
  set.stored = *std::move(answer.stored);
  set.taken = answer.taken;
  for (StoredSet& stored : *set.stored) std::ranges::sort(stored.sources);
  consider(set.id);
}

bool Coordinator::Impl::is_complete(const Set& set) const {
  if (set.parts.empty()) return false;
  if (set.ranks != 0) return set.coverage.size() >= set.ranks;
  return options.agents != 0 && set.parts.size() >= options.agents;
}

// The stored set that has all these files. A complete one must be just that.
const StoredSet* Coordinator::Impl::stored_already(const Set& set) const {
  if (!set.stored || set.parts.empty()) return nullptr;
  for (const StoredSet& stored : *set.stored) {
    const auto is_there = [&](const auto& part) { return is_among(part.second.hash, stored); };
    if (!std::ranges::all_of(set.parts, is_there)) continue;
    std::set<uint64_t> hashes;
    for (const auto& [agent, part] : set.parts) hashes.insert(part.hash);
    if (!is_complete(set) || hashes.size() == stored.sources.size()) return &stored;
  }
  return nullptr;
}

std::string Coordinator::Impl::what_is_missing(const Set& set) const {
  if (is_complete(set) && !set.stored) return set.store_error.empty() ? "the store does not answer" : set.store_error;
  std::string text = set.ranks != 0
                         ? fmt::format("ranks {} of {} are missing", set.coverage.missing(set.ranks), set.ranks)
                         : fmt::format("{} of {} nodes offered it", set.parts.size(), options.agents);
  constexpr int kMost = 10;
  int named = 0;
  for (const auto& [key, id] : agents) {
    if (set.parts.contains(key)) continue;
    if (named++ == kMost) return text + ", ...";
    text += (named == 1 ? "; not offered by " : ", ") + sessions.at(id).agent->host;
  }
  return text;
}

void Coordinator::Impl::consider(uint64_t id) {
  Set& set = sets.at(id);
  if (set.phase != Set::Phase::incomplete) return;
  if (set.parts.empty() && !set.asked) {
    info(fmt::format("set {} is offered by nobody any more", set.name));
    set_ids.erase(set.name);
    sets.erase(id);
    return;
  }
  if (set.ranks == 0 && options.agents == 0 && !set.parts.empty())
    return give_up(id, "the number of ranks is unknown, and so is that of the nodes (give --agents)");
  if (!set.stored || !is_complete(set)) return;
  if (const StoredSet* stored = stored_already(set)) {
    const std::string name = stored->name;
    return finish(id, wire::SetState::durable, name, "the store had it already");
  }
  queue(set);
}

Coordinator::Impl::Set* Coordinator::Impl::drained_set() {
  const auto found = std::ranges::find_if(sets, [](const auto& one) { return one.second.is_drained(); });
  return found == sets.end() ? nullptr : &found->second;
}

void Coordinator::Impl::queue(Set& set) {
  set.phase = Set::Phase::waiting;
  ++sets_completed;
  const Set* drained = drained_set();
  if (options.backlog == Backlog::skip && drained != nullptr)
    return finish(set.id, wire::SetState::skipped, {}, fmt::format("set {} was being drained", drained->name));
  drain_next();
}

void Coordinator::Impl::drain_next() {
  if (drained_set() != nullptr) return;
  std::vector<Set*> waiting;
  for (auto& [id, set] : sets)
    if (set.phase == Set::Phase::waiting) waiting.push_back(&set);
  if (waiting.empty()) return;
  const bool newest_first = options.backlog == Backlog::newest;
  Set* next = waiting.front();
  for (Set* set : waiting)
    if (is_newer(*set, *next) == newest_first && set != next) next = set;
  std::vector<uint64_t> skipped;
  for (const Set* set : waiting)
    if (newest_first && set != next) skipped.push_back(set->id);
  const std::string name = next->name;
  drain(*next);
  for (const uint64_t id : skipped)
    if (const auto set = sets.find(id); set != sets.end() && set->second.phase == Set::Phase::waiting)
      finish(id, wire::SetState::skipped, {}, fmt::format("set {} is newer", name));
}

void Coordinator::Impl::give_up(uint64_t id, const std::string& why) {
  warn(fmt::format("set {} is given up: {}", sets.at(id).name, why));
  finish(id, wire::SetState::failed, {}, why);
}

void Coordinator::Impl::finish(uint64_t id, wire::SetState state, std::string stored_as, std::string message) {
  const auto node = sets.extract(id);
  Set& set = node.mapped();
  set_ids.erase(set.name);
  for (const UnitId unit : set.units) remove_unit(unit);
  if (state != wire::SetState::durable && set.is_drained()) out.commands.push_back(Abandon{set.staging});
  FinishedSet fate{.name = set.name,
                   .state = state,
                   .stored_as = stored_as,
                   .message = message,
                   .step = set.step,
                   .raw_bytes = set.raw_done,
                   .stored_bytes = set.stored_done,
                   .seconds = set.is_drained() ? std::chrono::duration<double>(now - set.drained_since).count() : 0,
                   .steps = set.steps};
  for (const auto& [group, report] : set.reports) fate.cpu.add(report.cpu_seconds);
  count(state, stored_as);
  for (const auto& [key, part] : set.parts) {
    news(set, part, state, stored_as, message);
    fate.hashes.push_back(part.hash);
    if (const auto session = sessions.find(part.session); session != sessions.end()) session->second.sets.erase(id);
  }
  std::ranges::sort(fate.hashes);
  if (state == wire::SetState::skipped) warn(fmt::format("set {} is skipped: {}", set.name, message));
  if (state == wire::SetState::durable)
    info(fmt::format("set {} is durable as {}: {} bytes of {}, in {:.1f} s{}", set.name, stored_as, fate.stored_bytes,
                     fate.raw_bytes, fate.seconds, in_steps(fate.steps)));
  history.push_back(std::move(fate));
  if (history.size() > kMaxHistory) history.pop_front();
  for (auto& [session, offered] : set.later)
    if (const auto found = sessions.find(session); found != sessions.end())
      offer(session, found->second, std::move(offered));
  drain_next();
  advance_restart();
}

void Coordinator::Impl::tick_set(uint64_t id) {
  const auto found = sets.find(id);
  if (found == sets.end()) return;
  Set& set = found->second;
  if (set.store_waits && now >= set.store_retry.next()) {
    set.store_waits = false;
    if (set.phase == Set::Phase::staging) return stage(set);
    if (set.phase == Set::Phase::committing) return commit(set);
    return look_up(set);
  }
  for (const auto& [key, since] : set.away)
    if (now - since > options.set_timeout && needs(set, set.parts.at(key)))
      return give_up(id, fmt::format("the agent of {} did not come back", set.parts.at(key).host));
  if (set.phase != Set::Phase::incomplete) return;
  // What remains of a set that was committed, and whose other nodes know it, comes alone.
  const StoredSet* stored = stored_already(set);
  if (stored != nullptr && now - set.since > 2 * options.peer_timeout) {
    const std::string name = stored->name;
    return finish(id, wire::SetState::durable, name, "the store had it already");
  }
  if (now - set.since > options.set_timeout) give_up(id, what_is_missing(set));
}

}  // namespace forebay::job
