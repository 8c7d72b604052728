// How a coordinator joins its machines, each of which decides one thing and knows nothing of the others:
//   roster.h         who is connected
//   orders.h         what agents were asked, and who has answered: the machines below ask by that
//   set_row.h        one set that is not over: its parts, policy, encoding and drain, under one phase
//   set_drain.h      its parts, from the first offer to the commit
//   protection.h     its encoding, until it is sealed
//   backlog.h        which of the sets that wait is next
//   finished_sets.h, set_announcements.h
//                    what became of sets, and whom that is told
//   task_board.h     which worker does what
//   cached_sets.h    what the caches hold
//   cache_recovery.h one cached set, checked and repaired
//   restarts.h       restart rounds, with the tiers that they ask (stage_tier.h, cache_tier.h, store_tier.h)
//   settling.h       what the stages hold when the application rests
//   outbox.h         what must be in the log before anybody hears of it (job/decisions)
// The coordinator hands what happens to the machine that it concerns, and does what that asks for (apply()):
//   coordinator.cc          sessions, pings, dispatch, the end
//   coordinator_sets.cc     offers to sets, and what becomes of these
//   coordinator_keeping.cc  what becomes of complete sets: protected, stored, kept in the caches
//   coordinator_caches.cc   what the caches hold: offers of it, recoveries, what is refused, and the end
//   coordinator_tasks.cc    units of work out to the workers and back
//   coordinator_restart.cc  restarts and settling
//   coordinator_status.cc   all of that as JSON
// Pure, as coordinator.h says.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "job/coordinator/cache_recovery.h"
#include "job/coordinator/cache_tier.h"
#include "job/coordinator/cached_sets.h"
#include "job/coordinator/cadence.h"
#include "job/coordinator/coordinator.h"
#include "job/coordinator/finished_sets.h"
#include "job/coordinator/orders.h"
#include "job/coordinator/outbox.h"
#include "job/coordinator/restarts.h"
#include "job/coordinator/roster.h"
#include "job/coordinator/set_announcements.h"
#include "job/coordinator/set_row.h"
#include "job/coordinator/set_sizes.h"
#include "job/coordinator/settling.h"
#include "job/coordinator/stage_tier.h"
#include "job/coordinator/store_room.h"
#include "job/coordinator/store_tier.h"
#include "job/coordinator/task_board.h"

namespace forebay::job {

struct Coordinator::Impl {
  struct TaskCounts {
    uint64_t tasks = 0, again = 0, redrains = 0;
  };
  struct Traffic {
    uint64_t messages = 0, bytes = 0;
    void add(size_t more) {
      ++messages;
      bytes += more;
    }
  };
  using TrafficByKind = std::map<wire::Body, Traffic>;

  Impl(const CoordinatorOptions& with, uint64_t number, Time start, Facts known)
      : options(with),
        generation(number),
        started(start),
        facts(std::move(known)),
        cadence(start, facts.sums.pace),
        now(start),
        last_tick(start),
        next_ping(start),
        quiet_since(start),
        group_size(with.group_size),
        logged_exclusions(facts.excluded),
        roster(facts.excluded),
        newest_place(facts.sums.newest_place),
        settling({with.agents, with.peer_timeout, with.set_timeout}),
        recovery(caches, with.set_timeout),
        cache_tier(caches, recovery),
        durable_place(facts.sums.durable_place),
        store_tier(with.origin.series),
        restarts({with.origin.series, with.set_timeout}, {&stage_tier, &cache_tier, &store_tier}),
        board(with.stall_timeout) {
    take_refusals();
  }

  const CoordinatorOptions options;
  const uint64_t generation;
  const Time started;
  Facts facts;  // what all coordinators have decided, this one so far: changed by decide() alone
  Cadence cadence;
  Time now;  // of the call under way
  Time last_tick, next_ping, quiet_since;
  uint64_t group_size;  // of the options, or less where that proved to be too much for the workers' memory
  // Answers that the store owes, and since when it has said nothing.
  uint64_t answers_owed = 0;
  Time owed_since{};
  CoordinatorOutput out;
  Outbox outbox;
  std::set<std::string> logged_exclusions;  // hosts; what may be said at once
  std::string log_error;                    // why decisions cannot be logged; empty: they can
  Roster roster;
  SetRows sets;
  uint64_t next_staging = 1;
  uint64_t sets_completed = 0;  // by the application
  SetSizes set_sizes;           // of sets that are complete by their files alone
  uint64_t newest_place;        // of the sets of the series that the store, the stages or this coordinator know
  // Of the store, when it was asked first. Without a name: none, or a set of this job was compared with it.
  std::optional<store::Manifest> newest_at_first;
  std::string looks_older;  // why that was not in order; empty: it was
  std::string no_set;       // comes any more, and who is missing; empty: they come
  StoreRoomWatch store_room;
  // The last set that became durable while this one coordinates, and when; no name: none did.
  std::string newest_durable;
  Time newest_durable_at{};
  FinishedSets finished;
  SetAnnouncements announcements;
  SpentParts spent;  // of sets that are over
  Settling settling;
  StageTier stage_tier;
  std::map<std::string, Order> awaited;  // offers of sets, by name: those that were announced as cached come again
  CachedSets caches;
  CacheRecovery recovery;
  CacheTier cache_tier;
  // What agents have had refused of which nothing was known yet, and so the log has nothing: by agent and set.
  struct Unconfirmed {
    wire::RejectT rejected;
    Time since{};
  };
  std::map<std::pair<SessionId, std::string>, Unconfirmed> unconfirmed;
  std::optional<CachedSet> closing;               // at the end: the set that is being made whole, or stored
  std::map<std::string, uint32_t> closing_tries;  // that have failed, by set; 0: what there is of it is not enough
  // The newest set that an agent has offered as in the caches alone, whether or not anything of it is there still.
  struct Newest {
    std::string name;
    uint64_t ordinal = 0;
    std::optional<Time> missing_since;  // at the end
  };
  std::optional<Newest> newest_cached;
  uint64_t durable_place;  // of the newest durable one that is known; 0: none, or one was refused since
  std::mt19937_64 own_numbers{std::random_device{}()};
  StoreTier store_tier;
  Restarts restarts;
  TaskBoard board;
  bool has_more_tasks = false;  // than one call may start
  TaskCounts task_counts;
  std::deque<std::string> errors;  // the latest
  TrafficByKind received, sent;
  bool draining_to_end = false, over = false;
  bool is_pruning = false, prunes_again = false;  // the store is pruned; a set has become durable meanwhile
  Time pruning_since{};
  std::vector<StoreCommand> after_prune;  // lists for restarts, which wait until it is done, or takes too long

  // ---- coordinator.cc

  template <class Table>
  void send(SessionId to, Table body) {
    out.messages.push_back({to, {}});
    out.messages.back().message.body.Set(std::move(body));
  }
  // What says nothing that a decision has changed, as those say that wait for the log.
  template <class Table>
  void send_at_once(SessionId to, Table body) {
    send(to, std::move(body));
    out.messages.back().at_once = true;
  }
  void decide(Decision decision) {
    facts.apply(decision);
    out.decisions.push_back(std::move(decision));
  }
  void info(std::string text) { out.log.push_back({fabric::Severity::info, std::move(text)}); }
  void warn(std::string text);
  void take(LogLines log);
  void take(std::vector<StoreCommand> commands);
  std::chrono::milliseconds ping_interval() const { return options.peer_timeout / 4; }

  Result<void> dispatch(SessionId id, Session& session, wire::MessageT& message);
  bool dispatch_cached(SessionId id, const Session& session, wire::MessageT& message);
  Result<void> dispatch_question(SessionId id, const Session& session, wire::MessageT& message);
  Result<void> greet(SessionId id, std::unique_ptr<wire::AgentHelloT> hello);
  Result<void> greet(SessionId id, std::unique_ptr<wire::WorkerHelloT> hello);
  void welcome(SessionId id);
  void leave(SessionId id, const std::string& why);
  void exclude(SessionId asker, const std::string& host);
  void ask_for_end(const wire::StopRequestT& request);
  void end(const std::string& message);
  void check_end();
  void store_answered() {
    owed_since = now;
    if (answers_owed > 0) --answers_owed;
  }
  void check_store();
  void check_log();
  void check_cadence();
  std::string what_keeps_sets() const;
  void ping_all();
  void tick();
  void forgive_orders(std::chrono::nanoseconds gap);
  // What takes long is done a slice at a time, between other calls.
  bool has_slices() const;
  void do_slice();

  // ---- coordinator_sets.cc

  void offer(SessionId id, Session& session, wire::OfferT offered);
  void take_part(SessionId id, Session& session, wire::OfferT& offered, Part part);
  bool answer_from_history(SessionId id, const Session& session, const std::string& name, const Part& part);
  SetRow& row_named(const std::string& name);
  SetRow* row_of_staging(uint64_t number);   // null: none
  SetRow* row_of_encoding(uint64_t number);  // likewise
  void withdraw(SessionId from, Session& session, const wire::WithdrawnT& withdrawn);
  void agent_left(SessionId agent, const Session& session);
  wire::SetNewsT news(const std::string& set, const SetDrain::Ended& ended) const;  // but for the exposure
  void announce();
  void refuse(SessionId id, const wire::OfferT& offered, const std::string& why);
  void apply(uint64_t set, SetDrain::Actions actions);
  void place(SetDrain& set);
  void queue(uint64_t id);
  uint64_t group_size_of(const SetDrain& set) const;
  void drain_next();
  const SetDrain* drained_set() const;
  void finish(uint64_t id, SetDrain::Ended ended);
  void give_up(uint64_t id, const std::string& why);
  // is_void: since the application goes on without them.
  void give_up_incomplete(bool is_void);
  template <class Answer>
  void answered_set(uint64_t set, Answer answer);
  void answered(LookedUp answer);
  void answered(Staged answer);
  void answered(Committed answer);
  void watch_room(const StoreRoom& room, uint64_t set_bytes);

  // ---- coordinator_keeping.cc

  static constexpr size_t kAll = SIZE_MAX;
  void completed(uint64_t id);
  void go_on(uint64_t id);
  bool is_counted(const SetRow& row) const;
  void leave_drains_of_lost();
  struct Kept {
    uint64_t encoding = 0;    // that is sealed; 0: none
    bool owes_flush = false;  // as decided::Ended has it
  };
  Kept close_encoding(SetRow& row, SetDrain::Ended& ended);
  static bool is_had(const SetRow& row);
  void forget_encoding(SetRow& row);
  std::optional<Encoding> encoding_of(const SetRow& row) const;  // for the status
  void decide_due(SetRow& row);
  void decide_whole(const SetRow& row, std::optional<Pace::Set> sample);
  // The row may be gone after each of these.
  void protect(SetRow& row);
  bool adopt(SetRow& row);
  void sealed(SetRow& row);
  void unprotected(SetRow& row, const std::string& why);
  void tick_encodings();
  void store_or_keep(uint64_t id);
  void apply(uint64_t id, SetProtection::Actions actions);
  void check_parts(uint64_t id);
  void send_orders(SetProtection& encoding, size_t most);
  uint64_t next_number();
  void was_protected(SessionId id, const wire::ProtectedT& answer);
  void was_sealed(SessionId id, const Session& session, const wire::SealedT& answer);

  // ---- coordinator_caches.cc

  bool take_cached(SessionId id, const Session& session, const wire::OfferT& offered, const Part& part);
  // What is offered again of a set that was sealed before: its part is made again, or it was offered to a coordinator
  // that knows nothing of the seal. The agent hears at once that the part is in the caches.
  // nobody_writes: what can be made whole from what is there is left to them, too, whether it was sealed or not.
  bool leave_to_caches(const SetRow& row, bool nobody_writes = false);
  void leave_what_others_know(const std::string& set, uint64_t write);
  void leave_what_is_late();
  void await_offers(const std::string& set, const std::vector<SetAnnouncements::Listener>& listeners);
  bool is_awaited(const Order& offers) const;
  bool are_offers_awaited() const;
  void cache_agent_joined(SessionId id, const Session& session);
  void cache_agent_left(SessionId id, const Session& session);
  void tick_caches();
  void store_cached(const CachedSet& set);
  void flush_ended(const CachedSet& flushed, const SetDrain::Ended& ended);
  void quarantine(const CachedSet& set, const std::string& reason, bool removes = false);
  void quarantine(CachedSets::Quarantined refused);
  void refuse(const CachedSet& set, const std::string& reason, bool removes);
  // What the caches have of it; key: the writing that this agent has. Whether there is any.
  bool refuse_cached(const wire::RejectT& rejected, const std::string* key, std::string& stored_as);
  void take_refusals();
  void reject(SessionId id, const Session& session, const wire::RejectT& rejected);
  void reject_again(SessionId id, const Session& session, const std::string& set);
  void tick_rejects();
  void confirm(SessionId id, const wire::RejectT& rejected);
  void reject_everywhere(const wire::RejectT& rejected);
  bool refuse_everywhere(const wire::RejectT& rejected);  // whether anything of it was known
  // Whether it is refused then, and the log has that.
  bool reject_stored(const std::string& stored_as, const std::string& reason, const std::string& says);
  void answered(WasSetAside answer);
  void prune();
  void answered(WasPruned answer);
  void apply(CacheRecovery::Actions actions);
  void apply_cache_tier();
  bool is_caching() const;  // something about caches is under way that an end waits for
  bool close_caches();      // at the end: whether nothing of the caches is to be stored any more
  bool is_newest_closed();  // likewise: stored, or known to be lost
  void note_newest(const wire::OfferT& offered);
  void note_durable(const std::string& set, uint64_t ordinal);
  void forget_newest(const std::string& set);
  void closed();
  void close_failed(const std::string& why, bool may_be_had);
  void not_stored(const std::string& set, uint64_t ordinal, const std::string& why);
  template <class Which>
  void forget_not_stored(Which which);

  // ---- coordinator_tasks.cc

  void remove_unit(UnitId unit);
  void retry_unit(UnitId unit);
  void start_tasks();
  wire::TaskT task_of(const TaskBoard::Attempt& attempt);
  void ended(SessionId worker, const wire::TaskDoneT& done);
  void unit_lost(UnitId unit, const std::string& how);
  void find_stalled();

  // ---- coordinator_restart.cc

  void restart(SessionId id, const Session& session, const wire::RestartRequestT& request);
  Restarts& with_stages_observed();
  void advance_restart();
  void answered(ListedSets answer);
  void apply(Restarts::Actions actions);
  void apply(Settling::Actions actions);

  // ---- coordinator_status.cc

  std::string status() const;
  std::string status(const std::set<std::string>& excluded) const;
};

}  // namespace forebay::job
