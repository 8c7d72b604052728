// A restart round:
//   1. every rank of the job has asked, the agents have offered what lies complete in their stages, and nothing that is
//      complete waits to be drained any more: it would be newer;
//   2. the newest set of the job's series that can be read whole is chosen. If it is of as many ranks, each of its
//      containers is a delivery task; if not, each agent gets all containers where all ranks have asked for that, and
//      else the restart ends with that answer: neither an older set nor a start from scratch is what anybody wants;
//   3. when one turns out damaged, the set is passed over for everybody, and the next older one is chosen;
//   4. all agents publish what was delivered;
//   5. when all have done so, and not before, all ranks get the same answer: what fails at one of them fails for all.
// An agent that is lost before the answer must ask again: what was delivered to it may be gone. Ranks that cease to ask
// before it, since they have ended, let the round gather anew.
// A round is of one start of the application (attempt): when ranks of a later one ask, those of earlier ones are
// refused, and what they had asked for counts no more. Ranks that do not know their attempt (0) are of any.
#include <algorithm>

#include <fmt/format.h>

#include "engine/set/set_files.h"
#include "job/coordinator/coordinator_impl.h"
#include "store/names.h"
#include "store/series.h"

namespace forebay::job {
namespace {

constexpr int kDeliverPriority = 0;
constexpr uint32_t kMaxFailures = 3;
constexpr uint32_t kNobody = 0xffffffff;

// Why a set cannot be delivered, as far as its manifest tells.
std::string what_is_wrong(const store::SetInfo& set) {
  if (!set.manifest) return set.manifest.error().message();
  const store::Manifest& manifest = *set.manifest;
  if (!manifest.lost_containers.empty()) return "a repair could not save all of it";
  if (manifest.group_size == 0 ||
      manifest.containers.size() != (manifest.ranks + manifest.group_size - 1) / manifest.group_size)
    return "its containers are not those of its ranks";
  return {};
}

bool is_damaged(const wire::TaskDoneT& done) {
  return done.side == wire::FaultSide::store &&
         engine::is_damage(Error{.kind = static_cast<ErrorKind>(done.error_kind), .what = done.error});
}

}  // namespace

void Coordinator::Impl::restart(SessionId id, const wire::RestartRequestT& request) {
  wire::RefusedT refused;
  refused.error_kind = static_cast<uint8_t>(ErrorKind::invalid_argument);
  refused.attempt = request.attempt;
  if (request.total == 0 || request.total > kMaxRanks ||
      (!request.ranks.empty() && std::ranges::max(request.ranks) >= request.total)) {
    refused.message = "a restart of ranks that cannot be";
    return send(id, std::move(refused));
  }
  if (request.attempt != 0 && request.attempt < last_attempt) {
    refused.error_kind = static_cast<uint8_t>(ErrorKind::cancelled);
    refused.message = "the application was started again meanwhile";
    return send(id, std::move(refused));
  }
  supersede(request.attempt, request.total);
  if (round) std::erase_if(round->later, [&](const auto& one) { return one.first == id; });
  // It has not heard yet that it is to publish.
  if (round && round->phase == Round::Phase::publishing && round->asked.contains(id)) return;
  if (request.ranks.empty()) return restart_left(id);
  if (!round) {
    round = Round{.since = now, .total = request.total, .steps = Steps(now)};
    info(fmt::format("a restart of {} ranks begins", request.total));
  }
  if (round->total != request.total) {
    refused.message = fmt::format("others restart {} ranks, and not {}", round->total, request.total);
    return send(id, std::move(refused));
  }
  const bool is_delivered = round->phase == Round::Phase::delivering || round->phase == Round::Phase::publishing;
  if (is_delivered && !round->asked.contains(id)) {
    round->later.emplace_back(id, request);
    return;
  }
  if (request.any_ranks)
    round->strict.erase(id);
  else
    round->strict.insert(id);
  Asked& asked = round->asked[id];
  asked.attempt = request.attempt;
  const std::vector<uint32_t> before = std::exchange(asked.ranks, request.ranks);
  std::ranges::sort(asked.ranks);
  asked.ranks.erase(std::ranges::unique(asked.ranks).begin(), asked.ranks.end());
  round->coverage.remove(before);
  round->coverage.add(asked.ranks);
  if (!std::ranges::includes(asked.ranks, before)) gather_anew();
  advance_restart();
}

// Ranks of that start of the application ask.
void Coordinator::Impl::supersede(uint64_t attempt, uint32_t total) {
  if (attempt <= last_attempt) return;
  last_attempt = attempt;
  if (!round) return;
  std::vector<SessionId> old;
  for (const auto& [id, asked] : round->asked)
    if (asked.attempt != 0 || round->total != total) old.push_back(id);
  if (old.empty()) return;
  warn(fmt::format("the application was started again: the restart of {} ranks that was under way ends", round->total));
  for (const SessionId id : old) {
    const Asked asked = round->asked.extract(id).mapped();
    round->strict.erase(id);
    round->coverage.remove(asked.ranks);
    wire::RefusedT refused;
    refused.error_kind = static_cast<uint8_t>(ErrorKind::cancelled);
    refused.message = "the application was started again meanwhile";
    refused.attempt = asked.attempt;
    send(id, std::move(refused));
  }
  gather_anew();
}

void Coordinator::Impl::restart_left(SessionId id) {
  if (!round) return;
  const auto asked = round->asked.find(id);
  if (asked == round->asked.end()) return;
  round->coverage.remove(asked->second.ranks);
  round->asked.erase(asked);
  round->strict.erase(id);
  gather_anew();
}

// Somebody has asked and does so no more.
void Coordinator::Impl::gather_anew() {
  stop_delivering();
  round->phase = Round::Phase::gathering;
  round->since = now;
  round->store_waits = false;
  const auto later = std::exchange(round->later, {});
  if (round->asked.empty()) round.reset();
  for (const auto& [asker, request] : later)
    if (sessions.contains(asker)) restart(asker, request);
}

// Who came too late for it asks for the next one.
void Coordinator::Impl::end_round() {
  stop_delivering();
  const auto later = std::move(round->later);
  round.reset();
  for (const auto& [asker, request] : later)
    if (sessions.contains(asker)) restart(asker, request);
}

// Once all ranks have asked.
void Coordinator::Impl::advance_restart() {
  if (!publishing.empty()) return;
  if (!round || round->coverage.size() < round->total) return;
  if (round->phase == Round::Phase::gathering) {
    round->phase = Round::Phase::settling;
    return settle(0);
  }
  if (round->phase != Round::Phase::settling || settling) return;
  // One that is complete may wait for what the store says of it.
  const auto is_coming = [&](const auto& one) {
    return one.second.phase != Set::Phase::incomplete || is_complete(one.second);
  };
  if (std::ranges::any_of(sets, is_coming)) return;
  round->phase = Round::Phase::listing;
  round->steps.end("gather", now);
  round->passed_over.clear();
  list_sets();
  // Whatever had a part of these writes no more; the application may write them anew, and others may be faster at that
  // than those whose parts are here: a set would be made of two attempts.
  give_up_incomplete();
}

void Coordinator::Impl::list_sets() {
  ++lists_owed;
  out.commands.emplace_back(std::in_place_type<ListSets>);
}

void Coordinator::Impl::answered(ListedSets answer) {
  if (--lists_owed != 0 || !round || round->phase != Round::Phase::listing) return;  // for an earlier try
  if (!answer.sets) {
    round->store_retry.failed(now);
    round->store_waits = true;
    return warn("the store fails at a restart, and is tried again: " + answer.sets.error().message());
  }
  round->store_retry.succeeded();
  round->candidates = store::of_series(*answer.sets, options.origin.series);
  round->other_series = store::describe_series(*answer.sets, options.origin.series);
  if (!round->other_series.empty())
    info(fmt::format("restart: series {}; sets of others are left alone: {}", options.origin.series,
                     round->other_series));
  round->steps.end("list", now);
  choose_next();
}

void Coordinator::Impl::pass_over(const std::string& name, const std::string& why) {
  constexpr size_t kMost = 2000;
  warn(fmt::format("restart: set {} is passed over: {}", name, why));
  std::string& text = round->passed_over;
  if (text.size() < kMost) text += fmt::format("{}set {} was passed over: {}", text.empty() ? "" : "; ", name, why);
}

void Coordinator::Impl::choose_next() {
  while (!round->candidates.empty()) {
    store::SetInfo set = std::move(round->candidates.back());
    round->candidates.pop_back();
    const std::string wrong = what_is_wrong(set);
    if (wrong.empty())
      return set.manifest->ranks == round->total || round->strict.empty() ? deliver(set) : other_ranks(set);
    pass_over(set.name, wrong);
  }
  std::string why = round->passed_over;
  if (why.empty()) why = fmt::format("the store holds no set of the series {}", options.origin.series);
  if (!round->other_series.empty())
    why += fmt::format("; sets of other series are left alone: {} (--series NAME continues one)", round->other_series);
  nothing_to_restart_from(why);
}

void Coordinator::Impl::other_ranks(const store::SetInfo& set) {
  const uint64_t ranks = set.manifest->ranks;
  std::string why = round->passed_over.empty() ? "" : round->passed_over + "; ";
  why += fmt::format(
      "the newest set of the series {}, {}, is of {} ranks, and the job has {}: start as many ranks, or let the "
      "application ask for sets of any number of ranks (forebay_restart_any(), 'fetch --any-ranks'), or begin from "
      "scratch with another --series",
      options.origin.series, set.name, ranks, round->total);
  nothing_to_restart_from(why, static_cast<uint32_t>(std::min<uint64_t>(ranks, kNobody)));
}

std::map<uint32_t, SessionId> Coordinator::Impl::askers_by_rank() const {
  std::map<uint32_t, SessionId> askers;
  for (const auto& [id, asked] : round->asked)
    for (const uint32_t rank : asked.ranks) askers.emplace(rank, id);
  return askers;
}

void Coordinator::Impl::deliver(const store::SetInfo& set) {
  info(fmt::format("restart: set {} is delivered", set.name));
  round->phase = Round::Phase::delivering;
  round->chosen = set;
  round->done = 0;
  const store::Manifest& manifest = *round->chosen->manifest;
  const auto askers = askers_by_rank();
  round->deliveries.clear();
  for (uint32_t i = 0; i < manifest.containers.size(); ++i) {
    if (manifest.ranks == round->total)
      round->deliveries.push_back({i, 0});
    else
      for (const auto& [id, asked] : round->asked) round->deliveries.push_back({i, id});
  }
  for (uint32_t i = 0; i < round->deliveries.size(); ++i) {
    const auto& [container, to] = round->deliveries[i];
    const SessionId asker = to != 0 ? to : askers.at(static_cast<uint32_t>(container * manifest.group_size));
    round->units.push_back(add_unit(0, i, kDeliverPriority, sessions.at(asker).agent->node, true));
  }
  if (round->units.empty()) publish();
}

wire::TaskT Coordinator::Impl::delivery_task(uint32_t delivery, const store::SetInfo& set) const {
  const auto& [container, to] = round->deliveries[delivery];
  const store::Manifest& manifest = *set.manifest;
  wire::TaskT task;
  task.kind = wire::TaskKind::deliver;
  task.set = set.name;
  task.directory = set.directory;
  task.container = manifest.containers[container].name;
  task.first_rank = static_cast<uint32_t>(container * manifest.group_size);
  const auto end = static_cast<uint32_t>(std::min(task.first_rank + manifest.group_size, manifest.ranks));
  const auto askers = askers_by_rank();
  std::map<SessionId, uint32_t> peers;
  for (uint32_t rank = task.first_rank; rank < end; ++rank) {
    const auto asker = askers.find(rank);
    if (to == 0 && asker == askers.end()) {
      task.peer_of_rank.push_back(kNobody);
      continue;
    }
    const SessionId gets_it = to != 0 ? to : asker->second;
    const auto [place, is_new] = peers.emplace(gets_it, static_cast<uint32_t>(peers.size()));
    task.peer_of_rank.push_back(place->second);
    if (!is_new) continue;
    const wire::AgentHelloT& agent = *sessions.at(gets_it).agent;
    auto& peer = *task.peers.emplace_back(std::make_unique<wire::PeerT>());
    peer.node = agent.node;
    peer.host = agent.host;
    peer.addresses = agent.addresses;
    peer.stage = agent.stage;
  }
  return task;
}

void Coordinator::Impl::delivered(uint32_t delivery, const wire::TaskDoneT& done) {
  const UnitId unit = round->units[delivery];
  if (!done.failed) {
    remove_unit(std::exchange(round->units[delivery], 0));
    if (++round->done == round->units.size()) publish();
    return;
  }
  if (is_damaged(done)) return pass_over_chosen(done.error);
  ++totals.tasks_again;
  warn("restart: a delivery is tried again: " + done.error);
  if (board.failed(unit, now).failures() < kMaxFailures) return;
  if (done.side == wire::FaultSide::other) refuse_restart(static_cast<ErrorKind>(done.error_kind), done.error);
  if (done.side == wire::FaultSide::store && static_cast<ErrorKind>(done.error_kind) == ErrorKind::permission)
    pass_over_chosen(done.error);  // no waiting makes it readable
}

void Coordinator::Impl::pass_over_chosen(const std::string& why) {
  pass_over(round->chosen->name, why);
  stop_delivering();
  choose_next();
}

void Coordinator::Impl::stop_delivering() {
  for (const UnitId unit : round->units) remove_unit(unit);
  round->units.clear();
}

void Coordinator::Impl::publish() {
  round->phase = Round::Phase::publishing;
  round->steps.end("deliver", now);
  round->number = next_publication++;
  round->published_since = now;
  wire::RestartReadyT ready;
  ready.found = true;
  ready.set = store::application_name(*round->chosen->manifest);
  ready.stored_as = round->chosen->name;
  if (round->chosen->manifest->step) ready.step = *round->chosen->manifest->step;
  ready.message = round->passed_over;
  ready.ranks = static_cast<uint32_t>(round->chosen->manifest->ranks);
  ready.round = round->number;
  for (const auto& [id, asked] : round->asked) {
    publishing[id] = round->number;
    ready.attempt = asked.attempt;
    send(id, wire::RestartReadyT(ready));
  }
}

void Coordinator::Impl::published(SessionId id, const wire::RestartPublishedT& report) {
  const auto place = publishing.find(id);
  if (place == publishing.end() || place->second != report.round) return;
  publishing.erase(place);
  const bool is_late = !round || round->phase != Round::Phase::publishing || round->number != report.round;
  if (is_late) return advance_restart();
  if (report.failed)
    return refuse_restart(
        ErrorKind::io,
        fmt::format("set {} was delivered, but cannot be put in its place on {}: {}; no rank begins: see to that, and "
                    "restart again",
                    round->chosen->name, sessions.at(id).agent->host, report.error));
  if (publishing.empty()) finish_restart();
}

std::string Coordinator::Impl::who_publishes() const {
  constexpr size_t kMost = 8;
  std::string text;
  size_t named = 0;
  for (const auto& [id, number] : publishing) {
    if (named++ == kMost) return fmt::format("{} and {} more", text, publishing.size() - kMost);
    const wire::AgentHelloT& agent = *sessions.at(id).agent;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", agent.host, agent.stage);
  }
  return text;
}

void Coordinator::Impl::nothing_to_restart_from(const std::string& why, uint32_t other_ranks) {
  if (other_ranks != 0)
    warn("the restart is refused: " + why);
  else
    info("restart: there is nothing to restart from: " + why);
  wire::RestartReadyT ready;
  ready.message = why;
  ready.other_ranks = other_ranks;
  for (const auto& [id, asked] : round->asked) {
    ready.attempt = asked.attempt;
    send(id, wire::RestartReadyT(ready));
  }
  ++totals.restarts;
  end_round();
}

void Coordinator::Impl::finish_restart() {
  round->steps.end("publish", now);
  info(fmt::format("restart: set {} is in the stages of {} ranks{}", round->chosen->name, round->total,
                   in_steps(round->steps)));
  for (const auto& [id, asked] : round->asked) send(id, wire::RestartDoneT{.round = round->number});
  ++totals.restarts;
  last_restart = LastRestart{round->chosen->name, round->total, round->steps};
  end_round();
}

void Coordinator::Impl::refuse_restart(ErrorKind kind, const std::string& message) {
  warn("the restart fails: " + message);
  wire::RefusedT refused;
  refused.error_kind = static_cast<uint8_t>(kind);
  refused.message = message;
  for (const auto& [id, asked] : round->asked) {
    refused.attempt = asked.attempt;
    send(id, wire::RefusedT(refused));
  }
  end_round();
}

void Coordinator::Impl::tick_restart() {
  if (!round) return;
  if (round->store_waits && now >= round->store_retry.next()) {
    round->store_waits = false;
    list_sets();
  }
  if (round->phase == Round::Phase::publishing) {
    if (now - round->published_since < options.set_timeout) return;
    return refuse_restart(ErrorKind::timeout, fmt::format("set {} was delivered, but not put in its place in time: {}",
                                                          round->chosen->name, who_publishes()));
  }
  if (now - round->since < options.set_timeout) return advance_restart();
  if (round->coverage.size() < round->total)
    return refuse_restart(ErrorKind::timeout, fmt::format("ranks {} of {} did not ask for the restart",
                                                          round->coverage.missing(round->total), round->total));
  if (!publishing.empty())
    return refuse_restart(ErrorKind::timeout, "agents have not ended the restart before: " + who_publishes());
  if (round->phase != Round::Phase::delivering)
    refuse_restart(ErrorKind::timeout, "the store or a set that is drained keeps the restart waiting");
}

}  // namespace forebay::job
