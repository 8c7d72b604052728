// What a coordinator keeps, and the parts that it consists of:
//   coordinator.cc          sessions, pings, dispatch, the end
//   coordinator_sets.cc     sets from the offer until they are complete, and what becomes of those that wait
//   coordinator_drain.cc    a set from the staged directory to the commit
//   coordinator_tally.cc    what is counted, across coordinators
//   coordinator_tasks.cc    units of work out to the workers and back
//   coordinator_restart.cc  restart rounds
//   coordinator_settle.cc   what the stages hold when the application rests
//   coordinator_exclude.cc  nodes that the job goes on without
//   coordinator_status.cc   all of that as JSON
// Pure, as coordinator.h says.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/pack/group_report.h"
#include "job/coordinator/coordinator.h"
#include "job/coordinator/drain_set.h"
#include "job/coordinator/retry.h"
#include "job/coordinator/steps.h"
#include "job/coordinator/task_board.h"

namespace forebay::job {

struct Coordinator::Impl {
  // ---- what is kept

  struct Session {
    enum class Role : uint8_t { none, agent, worker, asker };
    std::string peer;
    Role role = Role::none;
    Time last_heard{};
    std::unique_ptr<wire::AgentHelloT> agent;
    std::unique_ptr<wire::WorkerHelloT> worker;
    std::string key;          // of an agent
    std::set<uint64_t> sets;  // of which an agent has a part
    bool waits_for_end = false;
    uint32_t processes = 0;     // of the application, as an agent tells
    uint64_t processor_ms = 0;  // that they have used
  };

  struct Set {
    enum class Phase : uint8_t { incomplete, waiting, staging, packing, committing };
    uint64_t id = 0;
    std::string name;
    std::optional<int64_t> step;
    Time since{};  // the first offer
    Steps steps;   // gather, stage, pack, commit
    Phase phase = Phase::incomplete;
    Parts parts;
    Coverage coverage;
    uint32_t ranks = 0;  // as one of the parts says

    // What the store has under this name: asked when the first part comes, and again after `exists`.
    bool asked = false;
    std::optional<std::vector<StoredSet>> stored;
    uint64_t taken = 0;  // names

    Retry store_retry;                 // of the store's operation that is next
    bool store_waits = false;          // for store_retry.next()
    std::string store_error;           // the latest of a row
    std::map<std::string, Time> away;  // while it is drained: agents that are gone, and since when

    // From staging on.
    uint64_t staging = 0;  // the store's number of it: another one each time
    Time drained_since{};
    Groups cut;
    StagedPlace place;
    std::vector<UnitId> units;  // by group; 0: done
    engine::GroupReports reports;
    bool has_others = false;                 // containers of attempts that were given up
    uint64_t raw_done = 0, stored_done = 0;  // of the groups that are done
    store::Manifest manifest;
    std::vector<std::pair<SessionId, wire::OfferT>> later;  // that came while it was committed

    bool is_drained() const { return phase != Phase::incomplete && phase != Phase::waiting; }
  };

  // What became of a set, for agents that offer it again.
  struct FinishedSet {
    std::string name;
    wire::SetState state = wire::SetState::failed;
    std::string stored_as, message;
    std::vector<uint64_t> hashes;  // of the parts, in order
    std::optional<int64_t> step;
    uint64_t raw_bytes = 0, stored_bytes = 0;
    double seconds = 0;
    Steps steps;
    engine::StageSeconds cpu;
  };

  // Ranks of one node that want to restart.
  struct Asked {
    std::vector<uint32_t> ranks;  // in order
    uint64_t attempt = 0;         // as their agent's request has it
  };

  struct Round {
    enum class Phase : uint8_t { gathering, settling, listing, delivering, publishing };
    Phase phase = Phase::gathering;
    Time since{};  // it began, or began anew
    uint32_t total = 0;
    Steps steps;  // gather, list, deliver, publish
    std::map<SessionId, Asked> asked;
    Coverage coverage;
    Retry store_retry;
    bool store_waits = false;
    std::vector<store::SetInfo> candidates;  // oldest first
    std::optional<store::SetInfo> chosen;
    // A container, and the agent that gets all of it; 0: each agent gets the files of its ranks.
    struct Delivery {
      uint32_t container = 0;
      SessionId to = 0;
    };
    std::vector<Delivery> deliveries;
    std::vector<UnitId> units;  // by delivery; 0: done
    uint64_t done = 0;
    std::string passed_over, other_series;
    std::set<SessionId> strict;  // of those that have asked: can only read a set of `total` ranks
    std::vector<std::pair<SessionId, wire::RestartRequestT>> later;  // that came when others had all that is delivered
    uint64_t number = 0;     // of what the agents publish: another one each time that they are told to
    Time published_since{};  // they were
  };

  // One that brought a set.
  struct LastRestart {
    std::string stored_as;
    uint32_t ranks = 0;
    Steps steps;
  };

  // The agents are asked what their stages hold, as the application does not write.
  struct Settling {
    uint64_t number = 0;
    Time since{};
    std::set<SessionId> waiting;    // agents that have not answered
    std::vector<SessionId> askers;  // who is told when all have
  };

  // What is neither in the store nor on its way, as an agent has said. Without a name: what is not known.
  struct Left {
    std::string host, name, reason;
  };

  struct UnitOwner {
    uint64_t set = 0;  // 0: the restart
    uint32_t index = 0;
    bool tried = false;
  };

  struct Totals {
    uint64_t durable = 0, skipped = 0, failed = 0, restarts = 0, raw_bytes = 0, stored_bytes = 0, tasks = 0,
             tasks_again = 0;
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
        now(start),
        last_tick(start),
        next_ping(start),
        quiet_since(start),
        group_size(with.group_size),
        board(with.stall_timeout) {}

  const CoordinatorOptions options;
  const uint64_t generation;
  const Time started;
  Time now;  // of the call under way
  Time last_tick, next_ping, quiet_since;
  uint64_t group_size;  // of the options, or less where that proved to be too much for the workers' memory
  // Answers that the store owes, and since when it has said nothing.
  uint64_t answers_owed = 0;
  Time owed_since{};
  CoordinatorOutput out;
  std::map<SessionId, Session> sessions;
  std::unordered_map<std::string, SessionId> agents;  // by key
  std::set<std::string> excluded;                     // hosts
  std::map<uint64_t, Set> sets;
  std::unordered_map<std::string, uint64_t> set_ids;  // by name
  std::deque<FinishedSet> history;
  std::optional<LastRestart> last_restart;
  uint64_t last_attempt = 0;       // the latest start of the application that is known of
  uint64_t lists_owed = 0;         // by the store
  std::deque<std::string> errors;  // the latest
  std::optional<Round> round;
  // Agents that were told to publish and have not answered, of an earlier round, too, with its number. Until they have,
  // nothing is delivered: it would be mixed with what they are at.
  std::map<SessionId, uint64_t> publishing;
  TaskBoard board;
  std::unordered_map<UnitId, UnitOwner> owners;
  std::unordered_map<AttemptId, std::string> containers;  // the names under which attempts write
  uint64_t sets_completed = 0;                            // by the application
  uint64_t next_set = 1, next_staging = 1, next_publication = 1;
  UnitId next_unit = 1;
  Totals totals;                   // of this coordinator
  wire::TallyT earlier;            // what earlier ones have counted
  std::deque<std::string> latest;  // durable sets that were counted last, by either
  TrafficByKind received, sent;
  bool draining_to_end = false, over = false;
  std::optional<Settling> settling;
  uint64_t next_settling = 1;
  std::map<std::string, std::vector<Left>> left;  // by the agents that have answered last
  std::vector<Left> unknown;                      // for those that have not
  bool settles_to_end = false;                    // agents that come are asked, too

  // ---- coordinator.cc

  template <class Table>
  void send(SessionId to, Table body) {
    out.messages.push_back({to, {}});
    out.messages.back().message.body.Set(std::move(body));
  }
  void info(std::string text) { out.log.push_back({fabric::Severity::info, std::move(text)}); }
  void warn(std::string text);
  std::chrono::milliseconds ping_interval() const { return options.peer_timeout / 4; }

  Result<void> dispatch(SessionId id, Session& session, wire::MessageT& message);
  Result<void> greet(SessionId id, Session& session, std::unique_ptr<wire::AgentHelloT> hello);
  Result<void> greet(SessionId id, Session& session, std::unique_ptr<wire::WorkerHelloT> hello);
  void welcome(SessionId id);
  void leave(SessionId id, const std::string& why);
  void ask_for_end(Session& session, const wire::StopRequestT& request);
  void end(const std::string& message);
  void check_end();
  void check_store();
  bool has_other_aggregators() const;
  void ping_all();
  void tick();

  // ---- coordinator_sets.cc

  void offer(SessionId id, Session& session, wire::OfferT offered);
  void take_part(SessionId id, Session& session, wire::OfferT& offered, Part part);
  bool answer_from_history(SessionId id, const std::string& name, const Part& part);
  void withdraw(Session& session, const wire::WithdrawnT& withdrawn);
  void agent_left(const Session& session);
  Set& set_named(const std::string& name);
  void put_part(Set& set, const std::string& key, Part part);
  void drop_part(Set& set, const std::string& key);
  void news(const Set& set, const Part& part, wire::SetState state, const std::string& stored_as,
            const std::string& message);
  void refuse(SessionId id, const wire::OfferT& offered, const std::string& why);

  void look_up(Set& set);
  void answered(LookedUp answer);
  bool is_complete(const Set& set) const;
  const StoredSet* stored_already(const Set& set) const;
  std::string what_is_missing(const Set& set) const;
  void consider(uint64_t id);  // a set that is incomplete, when something about it has changed
  void queue(Set& set);        // it is complete
  void drain_next();
  Set* drained_set();
  Set* staged_set(uint64_t staging);
  // The set's end. `stored_as` and `message` as SetNews has them.
  void finish(uint64_t id, wire::SetState state, std::string stored_as, std::string message);
  void give_up(uint64_t id, const std::string& why);
  void tick_set(uint64_t id);

  // ---- coordinator_tally.cc

  void count(wire::SetState state, const std::string& stored_as);
  void learn(const wire::TallyT& tally);
  wire::TallyT tally() const;  // of all coordinators

  // ---- coordinator_drain.cc

  void drain(Set& set);
  void stage(Set& set);
  void answered(Staged answer);
  void packed(Set& set, uint32_t group, AttemptId attempt, wire::TaskDoneT& done);
  void pack_failed(Set& set, uint32_t group, const wire::TaskDoneT& done);
  void commit(Set& set);
  void answered(Committed answer);
  bool halve_groups(Set& set, const std::string& why);
  void undo_drain(Set& set);  // everything from staging on; it is incomplete again
  void store_failed(Set& set, const Error& error);
  void update_ready(Set& set, const Part& part);
  bool needs(const Set& set, const Part& part) const;  // for a group that is not done

  // ---- coordinator_tasks.cc

  UnitId add_unit(uint64_t set, uint32_t index, int priority, const std::string& home, bool ready);
  void remove_unit(UnitId id);
  void start_tasks();
  wire::TaskT task_of(const TaskBoard::Attempt& attempt);
  void ended(SessionId worker, wire::TaskDoneT done);
  void unit_lost(UnitId id, const std::string& how);
  void find_stalled();

  // ---- coordinator_restart.cc

  void restart(SessionId id, const wire::RestartRequestT& request);
  void supersede(uint64_t attempt, uint32_t total);
  void restart_left(SessionId id);
  void gather_anew();
  void end_round();
  void advance_restart();
  void list_sets();
  void answered(ListedSets answer);
  void choose_next();
  void deliver(const store::SetInfo& set);
  wire::TaskT delivery_task(uint32_t delivery, const store::SetInfo& set) const;
  std::map<uint32_t, SessionId> askers_by_rank() const;
  void delivered(uint32_t delivery, const wire::TaskDoneT& done);
  void pass_over(const std::string& name, const std::string& why);
  void pass_over_chosen(const std::string& why);
  void stop_delivering();
  void publish();
  void published(SessionId id, const wire::RestartPublishedT& report);
  std::string who_publishes() const;
  void nothing_to_restart_from(const std::string& why, uint32_t other_ranks = 0);
  void other_ranks(const store::SetInfo& set);
  void finish_restart();
  void refuse_restart(ErrorKind kind, const std::string& message);
  void tick_restart();

  // ---- coordinator_settle.cc

  void settle(SessionId asker);  // 0: nobody
  void ask_to_settle(SessionId agent);
  void settled(SessionId id, const wire::SettledT& answer);
  void advance_settling();
  void end_settling();
  void give_up_incomplete();

  // ---- coordinator_exclude.cc

  void exclude(SessionId asker, const std::string& host);

  // ---- coordinator_status.cc

  std::string status() const;
};

}  // namespace forebay::job
