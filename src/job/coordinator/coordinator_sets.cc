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
  SetRow* const known = sets.find(offered.set);
  const bool has_part = known != nullptr && session.sets.contains(known->drain.id());
  if (!has_part && session.sets.size() >= kMaxSetsPerAgent)
    return refuse(id, offered, fmt::format("{} sets of one agent are not drained yet", kMaxSetsPerAgent));
  if (known != nullptr && known->drain.phase() == SetPhase::committing)
    return known->drain.postpone(id, std::move(offered));
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
  if (sets.find(offered.set) == nullptr && answer_from_history(id, session, offered.set, part)) return;
  SetRow& row = row_named(offered.set);
  const uint64_t set = row.drain.id();
  session.sets.insert(set);
  if (offered.policy) row.policy = *offered.policy;
  std::optional<int64_t> step;
  if (offered.step) step = *offered.step;
  const uint64_t write = part.write;
  apply(set, row.drain.offered(session.key, std::move(part), step, now));
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

SetRow& Coordinator::Impl::row_named(const std::string& name) {
  if (SetRow* const known = sets.find(name)) return *known;
  SetRow& row = sets.add(name, options, now);
  apply(row.drain.id(), row.drain.begin());
  return row;
}

void Coordinator::Impl::withdraw(SessionId from, Session& session, const wire::WithdrawnT& withdrawn) {
  caches.withdrawn(session.key, withdrawn.set, withdrawn.exposure);
  SetRow* row = sets.find(withdrawn.set);
  if (row == nullptr) return;
  const uint64_t id = row->drain.id();
  auto actions = row->drain.withdrawn(session.key, withdrawn);
  if (!row->drain.parts().contains(session.key)) session.sets.erase(id);
  apply(id, std::move(actions));
  row = sets.find(id);
  if (row != nullptr && row->drain.phase() == SetPhase::sealing && !row->drain.parts().contains(session.key))
    apply(id, row->encoding->left(from, now));
  else
    check_parts(id);
}

void Coordinator::Impl::agent_left(SessionId agent, const Session& session) {
  for (const uint64_t id : session.sets) {
    if (SetRow* const row = sets.find(id)) apply(id, row->drain.agent_left(session.key, now));
    if (SetRow* const row = sets.find(id); row != nullptr && row->encoding) apply(id, row->encoding->left(agent, now));
    if (SetRow* const row = sets.find(id); row != nullptr && row->is_sealed_and_gone())
      apply(id, row->drain.keep(fmt::format("{} is lost", session.agent->host)));
  }
}

template <class Answer>
void Coordinator::Impl::answered_set(uint64_t set, Answer answer) {
  if (SetRow* const row = sets.find(set)) apply(set, row->drain.answered(std::move(answer), now));
}

void Coordinator::Impl::answered(LookedUp answer) {
  newest_place = std::max(newest_place, answer.newest_place);
  if (!newest_at_first && answer.stored) newest_at_first = answer.newest.value_or(store::Manifest());
  answered_set(answer.set, std::move(answer));
}

// The set is complete, and gets its place in the series. All that have a part of it are to know: the next coordinator
// hears it from them.
void Coordinator::Impl::place(SetDrain& set) {
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
SetRow* Coordinator::Impl::row_of_staging(uint64_t number) {
  return sets.first([&](const SetRow& row) { return row.drain.staging() == number; });
}

void Coordinator::Impl::answered(Staged answer) {
  if (const SetRow* const row = row_of_staging(answer.set)) answered_set(row->drain.id(), std::move(answer));
}

void Coordinator::Impl::answered(Committed answer) {
  const SetRow* const row = row_of_staging(answer.set);
  if (row == nullptr) return;
  if (answer.result && answer.room) watch_room(*answer.room, row->drain.row().stored_done);
  answered_set(row->drain.id(), std::move(answer));
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
  SetRow& row = sets.at(set);
  if (actions.is_other && row.is_sealed()) row.encoding.reset();  // it is of the files before
  if (actions.completed) return completed(set);
  if (!actions.vanished || row.flush) return;
  info(fmt::format("set {} is offered by nobody any more", row.drain.name()));
  if (row.encoding) forget_encoding(row);
  sets.take(set);
}

const SetDrain* Coordinator::Impl::drained_set() const {
  const SetRow* const row = sets.first([](const SetRow& one) { return one.drain.is_drained(); });
  return row == nullptr ? nullptr : &row->drain;
}

void Coordinator::Impl::queue(uint64_t id) {
  const SetDrain* drained = drained_set();
  if (options.backlog == Backlog::skip && drained != nullptr)
    return apply(id, sets.at(id).drain.skip(fmt::format("set {} was being drained", drained->name())));
  drain_next();
}

uint64_t Coordinator::Impl::group_size_of(const SetDrain& set) const {
  if (!options.fills_streams) return group_size;
  uint64_t streams = 0, bytes = 0;
  for (const auto& [id, session] : roster.sessions())
    if (session.role == Session::Role::worker) streams += session.worker->streams;
  for (const auto& [key, part] : set.parts()) bytes += part.bytes;
  return group_size_for_streams(group_size, set.row().ranks, bytes, streams);
}

void Coordinator::Impl::drain_next() {
  if (drained_set() != nullptr) return;
  std::vector<WaitingSet> waiting;
  for (const auto& [id, row] : sets)
    if (row.drain.phase() == SetPhase::waiting) waiting.push_back({id, row.drain.ordinal()});
  const auto next = next_to_drain(waiting, options.backlog);
  if (!next) return;
  SetDrain& set = sets.at(next->id).drain;
  const std::string name = set.name();
  if (set.was_drained()) ++task_counts.redrains;
  apply(next->id, set.drain(next_staging++, group_size_of(set), now));
  for (const uint64_t id : next->skipped)
    if (SetRow* const row = sets.find(id); row != nullptr && row->drain.phase() == SetPhase::waiting)
      apply(id, row->drain.skip(fmt::format("set {} is newer", name)));
}

void Coordinator::Impl::give_up(uint64_t id, const std::string& why) { apply(id, sets.at(id).drain.give_up(why)); }

// A cached set that is to be stored, and that nobody has offered again yet, has its own time.
void Coordinator::Impl::give_up_incomplete(bool is_void) {
  const auto is_incomplete = [](const SetRow& row) {
    return row.drain.phase() == SetPhase::incomplete && !row.drain.is_complete() &&
           !(row.flush && row.drain.parts().empty());
  };
  sets.for_each(is_incomplete, [&](SetRow& row) {
    if (leave_to_caches(row, true)) return;
    auto actions = row.drain.give_up(row.drain.what_is_missing(roster.hosts()));
    actions.ended->is_void = is_void;
    apply(row.drain.id(), std::move(actions));
  });
}

// The set's end.
void Coordinator::Impl::finish(uint64_t id, SetDrain::Ended ended) {
  const auto node = sets.take(id);
  SetDrain& set = node.mapped().drain;
  const Kept kept = close_encoding(node.mapped(), ended);
  const bool was_flushed = node.mapped().flush.has_value();
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
                   .cpu = set.cpu(),
                   .encoding = kept.encoding != 0 ? encoding_of(node.mapped()) : std::nullopt};
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
    note_durable(set.name(), set.ordinal());
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
  if (was_flushed) flush_ended(*node.mapped().flush, ended);
  drain_next();
  advance_restart();
}

}  // namespace forebay::job
