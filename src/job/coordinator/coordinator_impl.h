// How a coordinator joins its machines, each of which decides one thing and knows nothing of the others:
//   roster.h         who is connected
//   set_drain.h      one set, from the first offer to the commit
//   backlog.h        which of the sets that wait is next
//   finished_sets.h, set_announcements.h
//                    what became of sets, and whom that is told
//   task_board.h     which worker does what
//   protection.h     the encoding of one set, until it is sealed
//   cached_sets.h    what the caches hold
//   cache_recovery.h one cached set, checked and repaired
//   restarts.h       restart rounds, with the tiers that they ask (stage_tier.h, cache_tier.h, store_tier.h)
//   settling.h       what the stages hold when the application rests
//   tally.h          what is counted, across coordinators
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
#include <unordered_map>
#include <utility>
#include <vector>

#include "job/coordinator/cache_recovery.h"
#include "job/coordinator/cache_tier.h"
#include "job/coordinator/cached_sets.h"
#include "job/coordinator/cadence.h"
#include "job/coordinator/coordinator.h"
#include "job/coordinator/finished_sets.h"
#include "job/coordinator/protection.h"
#include "job/coordinator/restarts.h"
#include "job/coordinator/roster.h"
#include "job/coordinator/set_announcements.h"
#include "job/coordinator/set_drain.h"
#include "job/coordinator/settling.h"
#include "job/coordinator/stage_tier.h"
#include "job/coordinator/store_tier.h"
#include "job/coordinator/tally.h"
#include "job/coordinator/task_board.h"

namespace forebay::job {

struct Coordinator::Impl {
  // What a unit of work is about.
  struct UnitOwner {
    uint64_t set = 0;    // 0: the restart
    uint32_t index = 0;  // of the rank group, or of the delivery
    auto operator<=>(const UnitOwner&) const = default;
  };
  // A set that was sealed, for the status.
  struct CachedRow {
    std::string name;
    std::string scheme;
    SetProtection::Row encoding;
  };
  struct TaskCounts {
    uint64_t tasks = 0, again = 0;
  };
  struct Traffic {
    uint64_t messages = 0, bytes = 0;
    void add(size_t more) {
      ++messages;
      bytes += more;
    }
  };
  using TrafficByKind = std::map<wire::Body, Traffic>;

  Impl(const CoordinatorOptions& with, uint64_t number, Time start)
      : options(with),
        generation(number),
        started(start),
        cadence(start),
        now(start),
        last_tick(start),
        next_ping(start),
        quiet_since(start),
        group_size(with.group_size),
        tally(number),
        settling({with.agents, with.peer_timeout, with.set_timeout}),
        recovery(caches, with.set_timeout),
        cache_tier(caches, recovery),
        store_tier(with.origin.series),
        restarts({with.origin.series, with.set_timeout}, {&stage_tier, &cache_tier, &store_tier}),
        board(with.stall_timeout) {}

  const CoordinatorOptions options;
  const uint64_t generation;
  const Time started;
  Cadence cadence;
  Time now;  // of the call under way
  Time last_tick, next_ping, quiet_since;
  uint64_t group_size;  // of the options, or less where that proved to be too much for the workers' memory
  // Answers that the store owes, and since when it has said nothing.
  uint64_t answers_owed = 0;
  Time owed_since{};
  CoordinatorOutput out;
  Roster roster;
  std::map<uint64_t, SetDrain> sets;
  std::unordered_map<std::string, uint64_t> set_ids;  // by name
  uint64_t next_set = 1, next_staging = 1;
  uint64_t sets_completed = 0;  // by the application
  FinishedSets finished;
  SetAnnouncements announcements;
  SpentParts spent;  // of sets that are over
  Tally tally;
  Settling settling;
  StageTier stage_tier;
  // What is to become of a set in `sets`, from the first offer on.
  struct Keeping {
    wire::SetPolicyT policy;
    redundancy::Protection protection;
    bool is_decided = false;                  // the two below are, when it was complete for the first time
    bool is_due = false, is_counted = false;  // it is to be stored; as one of every so many
    bool is_ready = false;                    // sealed, or without need of it
    bool is_sealed = false;
    std::optional<SetProtection> encoding;
  };
  std::map<uint64_t, Keeping> keeping;  // by set
  // Cached sets that are to be stored, by name: agents offer them again.
  struct Flush {
    CachedSet set;
    Time since{};
  };
  std::map<std::string, Flush> flushes;
  // Sets that were announced as ended, and that agents offer again as cached: who has not done so yet.
  struct Awaited {
    std::set<SessionId> agents;
    Time since{};
  };
  std::map<std::string, Awaited> awaited;
  std::map<uint64_t, std::string> sealed_sets;  // names by encoding, of those that this coordinator has sealed
  std::deque<CachedRow> cached_rows;            // for the status
  CachedSets caches;
  CacheRecovery recovery;
  CacheTier cache_tier;
  std::optional<CachedSet> closing;       // at the end: the set that is being made whole, or stored
  std::set<std::string> could_not_close;  // names of those that could not be
  std::mt19937_64 own_numbers{std::random_device{}()};
  StoreTier store_tier;
  Restarts restarts;
  TaskBoard board;
  std::unordered_map<UnitId, UnitOwner> owners;
  std::map<UnitOwner, UnitId> units;  // the inverse
  UnitId next_unit = 1;
  bool has_more_tasks = false;  // than one call may start
  TaskCounts task_counts;
  std::deque<std::string> errors;  // the latest
  TrafficByKind received, sent;
  bool draining_to_end = false, over = false;

  // ---- coordinator.cc

  template <class Table>
  void send(SessionId to, Table body) {
    out.messages.push_back({to, {}});
    out.messages.back().message.body.Set(std::move(body));
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
  void check_store();
  void ping_all();
  void tick();
  // What takes long is done a slice at a time, between other calls.
  bool has_slices() const;
  void do_slice();

  // ---- coordinator_sets.cc

  void offer(SessionId id, Session& session, wire::OfferT offered);
  void take_part(SessionId id, Session& session, wire::OfferT& offered, Part part);
  bool answer_from_history(SessionId id, const std::string& name, const Part& part);
  uint64_t set_named(const std::string& name);
  void withdraw(SessionId from, Session& session, const wire::WithdrawnT& withdrawn);
  void agent_left(SessionId agent, const Session& session);
  wire::SetNewsT news(const std::string& set, const SetDrain::Ended& ended) const;  // but for the exposure
  void announce();
  void refuse(SessionId id, const wire::OfferT& offered, const std::string& why);
  void apply(uint64_t set, SetDrain::Actions actions);
  void queue(uint64_t id);  // it is complete
  void drain_next();
  const SetDrain* drained_set() const;
  void finish(uint64_t id, SetDrain::Ended ended);
  void give_up(uint64_t id, const std::string& why);
  void give_up_incomplete();
  template <class Answer>
  void answered_set(uint64_t set, Answer answer);
  void answered(LookedUp answer);
  void answered(Staged answer);
  void answered(Committed answer);

  // ---- coordinator_keeping.cc

  static constexpr size_t kAll = SIZE_MAX;
  void keep(uint64_t id);  // it is complete
  bool is_to_drain(uint64_t id) const;
  bool is_sealed_and_gone(uint64_t set) const;
  void leave_drains_of_lost();
  bool close_keeping(uint64_t id, SetDrain::Ended& ended);  // whether it was sealed
  void decide(uint64_t id, Keeping& keeping);
  void protect(uint64_t id);
  bool adopt(uint64_t id);
  void protect_again();
  void store_or_keep(uint64_t id);
  void apply(uint64_t set, SetProtection::Actions actions);
  void sealed(uint64_t set);
  void unprotected(uint64_t set, const std::string& why);
  void check_parts(uint64_t set);
  void send_orders(SetProtection& encoding, size_t most);
  SetProtection* encoding_of(uint64_t id);  // null: none
  uint64_t next_to_tell() const;            // the set that has orders to be sent; 0: none
  uint64_t next_number();
  uint64_t set_of_encoding(uint64_t number) const;
  bool is_sealing(uint64_t set) const;
  void was_protected(SessionId id, const wire::ProtectedT& answer);
  void was_sealed(SessionId id, const Session& session, const wire::SealedT& answer);

  // ---- coordinator_caches.cc

  bool take_cached(SessionId id, const Session& session, const wire::OfferT& offered, const Part& part);
  void await_offers(const std::string& set, const std::vector<SetAnnouncements::Listener>& listeners);
  void offers_seen(const std::string& set, SessionId id);
  void cache_agent_joined(SessionId id, const Session& session);
  void cache_agent_left(SessionId id, const Session& session);
  void tick_caches();
  void store_cached(const CachedSet& set);
  void flush_ended(const std::string& set, const SetDrain::Ended& ended);
  void quarantine(const CachedSet& set, const std::string& reason);
  void reject(SessionId id, const Session& session, const wire::RejectT& rejected);
  void answered(WasSetAside answer);
  void apply(CacheRecovery::Actions actions);
  void apply_cache_tier();
  bool is_caching() const;  // something about caches is under way that an end waits for
  bool close_caches();      // at the end: whether nothing of the caches is to be stored any more
  void close_failed(const std::string& why);
  CacheRecovery::Agents cache_agents() const;

  // ---- coordinator_tasks.cc

  void add_unit(UnitOwner owner, int priority, const std::string& home, bool ready);
  void remove_unit(UnitOwner owner);
  void retry_unit(UnitOwner owner);
  void start_tasks();
  wire::TaskT task_of(const TaskBoard::Attempt& attempt);
  void ended(SessionId worker, const wire::TaskDoneT& done);
  void unit_lost(UnitId id, const std::string& how);
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
};

}  // namespace forebay::job
