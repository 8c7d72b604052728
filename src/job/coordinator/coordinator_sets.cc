// Offers to the sets that they are parts of, and what the sets ask for.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"
#include "store/names.h"
#include "store/series.h"

namespace forebay::job {
namespace {

constexpr size_t kMaxSetsPerAgent = 256;
constexpr int kPackPriority = 1;  // after deliveries: there the application waits
constexpr size_t kMostNewsAtOnce = 1024;

decided::End end_of(wire::SetState state) {
  switch (state) {
    case wire::SetState::durable:
      return decided::End::durable;
    case wire::SetState::skipped:
      return decided::End::skipped;
    case wire::SetState::cached:
      return decided::End::cached;
    default:
      return decided::End::failed;
  }
}

}  // namespace

wire::SetNewsT Coordinator::Impl::news(const std::string& set, const SetDrain::Ended& ended) const {
  wire::SetNewsT news;
  news.set = set;
  news.state = ended.state;
  news.stored_as = ended.stored_as;
  news.message = ended.message;
  news.ordinal = ended.ordinal;
  news.is_void = ended.is_void && ended.state == wire::SetState::failed;
  return news;
}

void Coordinator::Impl::announce() {
  for (auto& [to, news] : announcements.take(kMostNewsAtOnce))
    if (news.state == wire::SetState::waiting)
      send(to, wire::PlacedT{.set = news.set, .exposure = news.exposure, .ordinal = news.ordinal});
    else
      send(to, std::move(news));
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
  if (known != set_ids.end() && sets.at(known->second).phase() == SetDrain::Phase::committing)
    return sets.at(known->second).postpone(id, std::move(offered));
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
  const decided::Whole* const whole = facts.whole(offered.set, part.write);
  if (part.ordinal == 0 && whole != nullptr) part.ordinal = whole->ordinal;
  newest_place = std::max(newest_place, part.ordinal);
  if (take_cached(id, session, offered, part)) return;
  const bool is_known = set_ids.contains(offered.set) || flushes.contains(offered.set);
  if (!is_known && answer_from_history(id, session, offered.set, part)) return;
  const uint64_t set = set_named(offered.set);
  session.sets.insert(set);
  if (offered.policy) keeping[set].policy = *offered.policy;
  std::optional<int64_t> step;
  if (offered.step) step = *offered.step;
  const uint64_t write = part.write;
  apply(set, sets.at(set).offered(session.key, std::move(part), step, now));
  check_parts(set);
  leave_what_others_know(offered.set, write);
}

bool Coordinator::Impl::answer_from_history(SessionId id, const Session& session, const std::string& name,
                                            const Part& part) {
  const FinishedSet* const found = finished.find(name, part.hash, part.write);
  if (found == nullptr) return false;
  if (found->state == wire::SetState::failed) caches.withdrawn(session.key, name, part.exposure);
  wire::SetNewsT known = news(name, {found->state, found->stored_as, found->message, found->ordinal, found->is_void});
  known.exposure = part.exposure;
  send(id, std::move(known));
  return true;
}

uint64_t Coordinator::Impl::set_named(const std::string& name) {
  if (const auto known = set_ids.find(name); known != set_ids.end()) return known->second;
  const uint64_t id = next_set++;
  set_ids.emplace(name, id);
  SetDrain& set =
      sets.emplace(std::piecewise_construct, std::forward_as_tuple(id), std::forward_as_tuple(id, name, options, now))
          .first->second;
  apply(id, set.begin());
  return id;
}

void Coordinator::Impl::withdraw(SessionId from, Session& session, const wire::WithdrawnT& withdrawn) {
  caches.withdrawn(session.key, withdrawn.set, withdrawn.exposure);
  const auto known = set_ids.find(withdrawn.set);
  if (known == set_ids.end()) return;
  const uint64_t id = known->second;
  SetDrain& set = sets.at(id);
  auto actions = set.withdrawn(session.key, withdrawn);
  if (!set.parts().contains(session.key)) session.sets.erase(id);
  apply(id, std::move(actions));
  if (is_sealing(id) && !sets.at(id).parts().contains(session.key))
    apply(id, encoding_of(id)->left(from, now));
  else
    check_parts(id);
}

void Coordinator::Impl::agent_left(SessionId agent, const Session& session) {
  for (const uint64_t id : session.sets) {
    if (const auto set = sets.find(id); set != sets.end()) apply(id, set->second.agent_left(session.key, now));
    if (SetProtection* const encoding = encoding_of(id)) apply(id, encoding->left(agent, now));
    if (is_sealed_and_gone(id)) apply(id, sets.at(id).keep(fmt::format("{} is lost", session.agent->host)));
  }
}

template <class Answer>
void Coordinator::Impl::answered_set(uint64_t set, Answer answer) {
  if (const auto found = sets.find(set); found != sets.end())
    apply(set, found->second.answered(std::move(answer), now));
}

void Coordinator::Impl::answered(LookedUp answer) {
  newest_place = std::max(newest_place, answer.newest_place);
  if (!newest_at_first && answer.stored) newest_at_first = answer.newest.value_or(store::Manifest());
  answered_set(answer.set, std::move(answer));
}

// The set is complete, and gets its place in the series. All that have a part of it are to know: the next coordinator
// hears it from them.
void Coordinator::Impl::place(uint64_t id) {
  SetDrain& set = sets.at(id);
  const uint64_t place_before = set.ordinal();
  newest_place = set.take_place(newest_place);
  if (const auto size = set.watched_size(); size && set.ordinal() != place_before) {
    if (std::string why = set_sizes.judge(*size); !why.empty()) {
      warn(fmt::format("set {} is suspect, and not the first choice of a restart: {}", set.name(), why));
      set.suspect(std::move(why));
    }
  }
  wire::SetNewsT place;
  place.set = set.name();
  place.state = wire::SetState::waiting;
  place.ordinal = set.ordinal();
  std::vector<SetAnnouncements::Listener> listeners;
  for (const auto& [key, part] : set.parts()) {
    caches.placed(key, set.name(), part.exposure, set.ordinal());
    if (part.session != 0) listeners.push_back({part.session, part.exposure});
  }
  announcements.add(std::move(place), std::move(listeners));
  announce();
  if (!newest_at_first) return;
  const store::Manifest newest = std::exchange(*newest_at_first, {});
  if (newest.name.empty() || facts.sums.counts.restarts != 0) return;
  looks_older = store::why_older(set.name(), set.step(), newest);
  if (!looks_older.empty()) warn(looks_older);
}

// These name the staging and not the set, which may be staged again.
void Coordinator::Impl::answered(Staged answer) {
  for (const auto& [id, set] : sets)
    if (set.staging() == answer.set) return answered_set(id, std::move(answer));
}

void Coordinator::Impl::answered(Committed answer) {
  for (const auto& [id, set] : sets) {
    if (set.staging() != answer.set) continue;
    if (answer.result && answer.room) watch_room(*answer.room, set.row().stored_done);
    return answered_set(id, std::move(answer));
  }
}

void Coordinator::Impl::watch_room(const StoreRoom& room, uint64_t set_bytes) {
  const bool is_news = store_room.warning().empty();
  store_room.stored(room, set_bytes);
  if (is_news && !store_room.warning().empty()) warn(store_room.warning());
}

void Coordinator::Impl::apply(uint64_t set, SetDrain::Actions actions) {
  using Kind = SetDrain::Work::Kind;
  take(std::move(actions.log));
  take(std::move(actions.commands));
  for (const auto& work : actions.work) {
    const UnitId unit{set, work.group};
    if (work.kind == Kind::add) board.add(unit, kPackPriority, work.home, work.ready);
    if (work.kind == Kind::remove) remove_unit(unit);
    if (work.kind == Kind::set_ready) board.set_ready(unit, work.ready);
    if (work.kind == Kind::retry) retry_unit(unit);
  }
  if (actions.group_size != 0) group_size = std::min(group_size, actions.group_size);
  if (actions.ended) return finish(set, *std::move(actions.ended));
  if (actions.vanished) {
    if (SetProtection* const encoding = encoding_of(set)) {
      encoding->cancel();
      send_orders(*encoding, kAll);
    }
    set_ids.erase(sets.at(set).name());
    sets.erase(set);
    keeping.erase(set);
  } else if (actions.completed) {
    ++sets_completed;
    uint32_t longest_ms = 0;
    for (const auto& [key, part] : sets.at(set).parts()) longest_ms = std::max(longest_ms, part.took_ms);
    auto sample = cadence.completed(sets.at(set).name(), longest_ms / 1e3, now);
    place(set);
    keep(set, std::move(sample));
  }
}

const SetDrain* Coordinator::Impl::drained_set() const {
  const auto found = std::ranges::find_if(sets, [](const auto& one) { return one.second.is_drained(); });
  return found == sets.end() ? nullptr : &found->second;
}

void Coordinator::Impl::queue(uint64_t id) {
  const SetDrain* drained = drained_set();
  if (options.backlog == Backlog::skip && drained != nullptr)
    return apply(id, sets.at(id).skip(fmt::format("set {} was being drained", drained->name())));
  drain_next();
}

void Coordinator::Impl::drain_next() {
  if (drained_set() != nullptr) return;
  std::vector<WaitingSet> waiting;
  for (const auto& [id, set] : sets)
    if (set.phase() == SetDrain::Phase::waiting && is_to_drain(set)) waiting.push_back({id, set.ordinal()});
  const auto next = next_to_drain(waiting, options.backlog);
  if (!next) return;
  SetDrain& set = sets.at(next->id);
  const std::string name = set.name();
  apply(next->id, set.drain(next_staging++, group_size, now));
  for (const uint64_t id : next->skipped)
    if (const auto one = sets.find(id);
        one != sets.end() && one->second.phase() == SetDrain::Phase::waiting && is_to_drain(one->second))
      apply(id, one->second.skip(fmt::format("set {} is newer", name)));
}

void Coordinator::Impl::give_up(uint64_t id, const std::string& why) { apply(id, sets.at(id).give_up(why)); }

void Coordinator::Impl::give_up_incomplete(bool is_void) {
  std::vector<uint64_t> ids;
  for (const auto& [id, set] : sets)
    if (set.phase() == SetDrain::Phase::incomplete && !set.is_complete() && !is_sealing(id)) ids.push_back(id);
  for (const uint64_t id : ids)
    if (const auto found = sets.find(id); found != sets.end() && !leave_to_caches(id, true)) {
      auto actions = found->second.give_up(found->second.what_is_missing(roster.hosts()));
      actions.ended->is_void = is_void;
      apply(id, std::move(actions));
    }
}

// The set's end.
void Coordinator::Impl::finish(uint64_t id, SetDrain::Ended ended) {
  const auto node = sets.extract(id);
  SetDrain& set = node.mapped();
  set_ids.erase(set.name());
  const Kept kept = close_keeping(set, ended);
  const bool was_flushed = flushes.contains(set.name());
  if (was_flushed && ended.state != wire::SetState::durable) ended.state = wire::SetState::cached;
  const SetDrain::Row row = set.row();
  FinishedSet past{.name = set.name(),
                   .state = ended.state,
                   .stored_as = ended.stored_as,
                   .message = ended.message,
                   .is_void = ended.is_void && ended.state == wire::SetState::failed,
                   .ordinal = ended.ordinal,
                   .hashes = {},
                   .step = set.step(),
                   .raw_bytes = row.raw_done,
                   .stored_bytes = row.stored_done,
                   .seconds = set.seconds(now),
                   .steps = set.steps(),
                   .cpu = set.cpu()};
  if (kept.encoding != 0) decide(decided::Sealed{set.name(), kept.encoding});
  const bool is_stored = ended.state == wire::SetState::durable;
  const bool is_counted = !ended.is_known && (!was_flushed || is_stored);
  if (is_counted || kept.owes_flush)
    decide(decided::Ended{.set = set.name(),
                          .end = end_of(ended.state),
                          .stored_as = ended.stored_as,
                          .raw_bytes = is_stored ? row.raw_done : 0,
                          .stored_bytes = is_stored ? row.stored_done : 0,
                          .is_counted = is_counted,
                          .owes_flush = kept.owes_flush});
  std::vector<SetAnnouncements::Listener> listeners;
  for (const auto& [key, part] : set.parts()) {
    past.hashes.push_back(part.hash);
    past.write = part.write;
    // Its agent offers it no more, and may remove it.
    if (ended.state == wire::SetState::failed || ended.state == wire::SetState::skipped)
      caches.withdrawn(key, set.name(), part.exposure);
    if (part.session == 0) continue;
    listeners.push_back({part.session, part.exposure});
    if (Session* const session = roster.find(part.session)) session->sets.erase(id);
  }
  if (ended.state == wire::SetState::cached || kept.encoding != 0) await_offers(set.name(), listeners);
  announcements.add(news(set.name(), ended), std::move(listeners));
  announce();
  if (ended.state == wire::SetState::skipped) warn(fmt::format("set {} is skipped: {}", set.name(), ended.message));
  if (ended.state == wire::SetState::durable)
    info(fmt::format("set {} is durable as {}: {} bytes of {}, in {:.1f} s{}", set.name(), ended.stored_as,
                     past.stored_bytes, past.raw_bytes, past.seconds, in_steps(past.steps)));
  if (is_stored) {
    newest_durable = set.name();
    newest_durable_at = now;
  }
  if (is_stored && !ended.is_known) prune();
  if (ended.state == wire::SetState::cached)
    info(fmt::format("set {} is in the caches{}{}", set.name(), ended.message.empty() ? "" : ": ", ended.message));
  finished.add(std::move(past));
  spent.add(set.take_parts());
  for (auto& [from, offered] : set.take_postponed())
    if (Session* const session = roster.find(from)) offer(from, *session, std::move(offered));
  if (was_flushed) flush_ended(set.name(), ended);
  drain_next();
  advance_restart();
}

}  // namespace forebay::job
