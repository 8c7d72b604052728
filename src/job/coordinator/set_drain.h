// One checkpoint set, from the first offer of a part of it until it is durable or given up:
//   1. the first part makes the set, and the store is asked what it has under its name;
//   2. when all ranks are there, and the store has not just these files already (a coordinator that died may have
//      committed them, and told nobody), the set waits to be drained; without them within the set timeout, it is given
//      up;
//   3. it is cut into rank groups, and the store makes a directory for it (staging);
//   4. each group becomes a container there; a second attempt at one writes under another name (packing);
//   5. the store commits (committing).
// Errors of the store are tried again, with growing pauses, until the set timeout has passed since the first of a row.
// Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/pack/group_report.h"
#include "job/coordinator/coordinator_options.h"
#include "job/coordinator/coverage.h"
#include "job/coordinator/offered_part.h"
#include "job/coordinator/phases.h"
#include "job/coordinator/rank_groups.h"
#include "job/coordinator/retry.h"
#include "job/coordinator/session.h"
#include "job/coordinator/set_sizes.h"
#include "job/coordinator/steps.h"
#include "job/coordinator/store_commands.h"
#include "job/coordinator/task_board.h"
#include "job/wire/messages.h"

namespace forebay::job {

// The agents that are there: their hosts, by the key under which they offer.
using AgentHosts = std::unordered_map<std::string, std::string>;

class SetDrain {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Phase = SetPhase;

  // What is to be done after a call, in the order of each list.
  struct Work {                                                   // on a rank group, as a unit of the task board
    enum class Kind : uint8_t { add, remove, set_ready, retry };  // retry: after a pause that grows
    Kind kind = Kind::add;
    uint32_t group = 0;
    std::string home;   // add: the node that it had best be done on
    bool ready = true;  // add, set_ready: all agents that have its files are there
  };
  struct Ended {  // as SetNews has it
    wire::SetState state = wire::SetState::failed;
    std::string stored_as, message;
    uint64_t ordinal = 0;
    bool is_void = false;   // likewise
    bool is_known = false;  // it had ended so before, and is counted: some of its parts came again
  };
  struct Actions {
    std::vector<StoreCommand> commands;
    std::vector<Work> work;
    bool completed = false;      // all ranks have completed it: it is whole
    bool is_other = false;       // an agent has offered files that it had not before
    bool vanished = false;       // nobody offers it
    uint64_t group_size = 0;     // not 0: this proved to be enough for the workers' memory, for later sets, too
    std::optional<Ended> ended;  // it is over, and nothing else is to be called but what is const
    LogLines log;
  };

  // `options` outlive it.
  SetDrain(uint64_t id, std::string name, const CoordinatorOptions& options, Time now)
      : id_(id), name_(std::move(name)), options_(&options), since_(now), steps_(now) {}

  // Each set is looked up first.
  Actions begin();

  // A part from the agent of that key; not in phase committing, where postpone() keeps the offer. Files that are not
  // those that it has from this agent take the others' place, and undo the drain.
  Actions offered(const std::string& key, Part part, std::optional<int64_t> step, Time now);
  void postpone(SessionId from, wire::OfferT offer);
  std::vector<std::pair<SessionId, wire::OfferT>> take_postponed() { return std::move(postponed_); }
  // The agent's exposure is gone; that of an earlier offer does not matter.
  Actions withdrawn(const std::string& key, const wire::WithdrawnT& withdrawn);
  Actions agent_left(const std::string& key, Time now);

  // Answers of the store, to this set's commands; those to an earlier staging are passed over.
  Actions answered(LookedUp answer, Time now);
  Actions answered(Staged answer, Time now);
  Actions answered(Committed answer, Time now);

  // When it was completed: its place in the series, where the newest set that is known has the place `newest`. A set
  // that has had one keeps it, as long as its files are the same or of the same writing; also one that its agents were
  // told by an earlier coordinator. The place of the newest set now.
  uint64_t take_place(uint64_t newest);

  // Phases from whole to sealing: what has become of its protection, or that there is none (ready).
  // A seal that goes on without a part, and fails, leaves the set incomplete.
  void go(SetEvent event) {
    phase_ = next_phase(set_transitions(), phase_, event);
    if (is_whole() && phase_ != Phase::sealing && !is_complete()) go(SetEvent::part_changed);
  }
  // Phase waiting. `staging`: a number that was never used before.
  Actions drain(uint64_t staging, uint64_t group_size, Time now);
  // Phase cutting: goes on with it for a while; no call takes long.
  Actions cut(Time now);

  // The task of an attempt at a group that was added and not removed.
  wire::TaskT task(uint32_t group, AttemptId attempt);
  // How an attempt at such a group has ended.
  Actions task_ended(uint32_t group, AttemptId attempt, const wire::TaskDoneT& done, Time now);

  Actions tick(Time now, const AgentHosts& agents);
  // It is over for a reason that lies elsewhere. Only in phase waiting or incomplete: skipped.
  Actions skip(const std::string& why);
  Actions give_up(const std::string& why);
  // It stays in the caches, and is not to be stored. `why`: for the news; may be empty.
  Actions keep(const std::string& why);

  uint64_t id() const { return id_; }
  const std::string& name() const { return name_; }
  Phase phase() const { return phase_; }
  std::optional<int64_t> step() const { return step_; }
  // Of a set that is known to be complete by its files alone: what it has; nothing of others.
  std::optional<SetSizes::Size> watched_size() const;
  // Why it may not be whole, for its manifest.
  void suspect(std::string why) { suspicion_ = std::move(why); }
  uint64_t ordinal() const { return ordinal_; }  // 0: it was never completed
  const Parts& parts() const { return parts_; }
  const Steps& steps() const { return steps_; }
  bool is_whole() const { return phase_ >= Phase::whole && phase_ <= Phase::waiting; }
  bool was_drained() const { return was_drained_; }  // or is
  bool is_drained() const { return phase_ >= Phase::cutting && phase_ != Phase::over; }
  bool is_complete() const;                      // all ranks are there
  uint64_t staging() const { return staging_; }  // 0: the store has nothing of it
  std::string what_is_missing(const AgentHosts& agents) const;
  // Whether its drain needs files that lie on that node alone, whose agent is gone.
  bool needs_lost(const std::string& host) const;
  bool needs_lost() const;         // likewise, of any node
  double seconds(Time now) const;  // since the drain began; 0: it has not

  // For the status and the history.
  struct Row {
    uint32_t ranks = 0;
    size_t ranks_offered = 0, containers = 0, containers_done = 0;
    uint64_t files = 0, bytes = 0, raw_done = 0, stored_done = 0;
    uint32_t store_failures = 0;
    std::string stored_as;
    Time since{};
  };
  Row row() const;
  uint64_t group_bytes(uint32_t group) const { return groups_.groups[group].bytes; }
  engine::StageSeconds cpu() const;
  // What takes time to destroy.
  Parts take_parts() { return std::move(parts_); }

 private:
  struct Group {
    bool is_done = false, was_tried = false;
    AttemptId first = 0;  // writes under the group's own name
    Retry retry;
  };

  bool is_staged() const { return phase_ >= Phase::staging && phase_ != Phase::over; }
  void look_up(Actions& actions);
  void put_part(const std::string& key, Part part);
  void drop_part(const std::string& key);
  void lose_part(const std::string& key, Actions& actions);
  void consider(Actions& actions);  // when something about an incomplete one has changed
  const StoredSet* stored_already() const;
  bool needs(const Part& part) const;  // for a group that is not done
  void update_ready(const Part& part, Actions& actions);
  void stage(Actions& actions);
  void store_failed(const Error& error, Time now, Actions& actions);
  void packed(uint32_t group, AttemptId attempt, const wire::TaskDoneT& done, Time now, Actions& actions);
  void pack_failed(uint32_t group, const wire::TaskDoneT& done, Time now, Actions& actions);
  bool halve_groups(const std::string& why, Time now, Actions& actions);
  void make_manifest(Time now, Actions& actions);
  void commit(Actions& actions);
  void undo(Time now, Actions& actions);  // everything from cutting on; it is incomplete again
  void end(wire::SetState state, std::string stored_as, std::string message, Actions& actions);
  void give_up(const std::string& why, Actions& actions);
  std::string container_name(uint32_t group, AttemptId attempt) const;
  void remove_units(Actions& actions);
  // The writing that all parts are of; 0: nobody knows.
  uint64_t write() const { return writes_.size() == 1 ? writes_.begin()->first : 0; }

  uint64_t id_;
  std::string name_;
  const CoordinatorOptions* options_;
  Time since_;   // the first offer, or the end of a drain that was undone
  Steps steps_;  // gather, stage, pack, commit
  Phase phase_ = Phase::incomplete;
  std::optional<int64_t> step_;
  uint64_t ordinal_ = 0;
  std::string suspicion_;
  std::vector<uint64_t> placed_;  // hashes of the parts that have it
  uint64_t placed_write_ = 0;     // their writing
  Parts parts_;
  Coverage coverage_;
  std::map<uint64_t, uint32_t> writes_;  // of the parts, and how many have each: parts of two are never mixed
  uint32_t ranks_ = 0;                   // as one of the parts says

  // What the store has under this name: asked when the first part comes, and again after `exists`.
  bool is_asked_ = false;
  std::optional<std::vector<StoredSet>> stored_;
  uint64_t taken_ = 0;  // names

  Retry store_retry_;                 // of the store's operation that is next
  bool store_waits_ = false;          // for store_retry_.next()
  std::string store_error_;           // the latest of a row
  std::map<std::string, Time> away_;  // while it is drained: agents that are gone, and since when

  // From cutting on.
  uint64_t staging_ = 0;  // the store's number of it: another one each time
  uint64_t group_size_ = 0;
  bool was_drained_ = false;
  std::optional<Time> drained_since_;
  std::optional<GroupCutter> cutter_;
  Groups groups_;
  StagedPlace place_;
  std::vector<Group> states_;  // by group; empty: they are not units yet
  engine::GroupReports reports_;
  bool has_others_ = false;                  // containers of attempts that were given up
  uint64_t raw_done_ = 0, stored_done_ = 0;  // of the groups that are done
  store::Manifest manifest_;
  std::vector<std::pair<SessionId, wire::OfferT>> postponed_;  // that came while it was committed
};

}  // namespace forebay::job
