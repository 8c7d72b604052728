// The part of an aggregator that works: packs rank groups of agents' files, and delivers files to agents at a restart
// (decision 0019).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/rate_limit.h"
#include "engine/options.h"
#include "engine/pack/pack.h"
#include "fabric/credentials.h"
#include "job/wire/messages.h"
#include "job/worker/fabric_choice.h"

namespace forebay::job {

struct WorkerOptions {
  uint32_t streams = 4;         // tasks at once, at most
  std::string store;            // the job's store, as this process reaches it
  engine::PackOptions pack;     // of it what says how to pack: scheme, profile, lossy, similarity, format
  engine::Resources resources;  // for all tasks under way; `progress` is not used
  RateLimit* limit =
      nullptr;  // of what is written to the store, by all tasks together; outlives the worker; null: none
  fabric::Credentials credentials;
  std::string node;  // fabric::node_identity() of this process
  FabricChoice fabric = FabricChoice::automatic;
  std::chrono::milliseconds patience{10'000};  // with an agent that says nothing
};

// Tasks at once, at most: fewer than the options say where the share of each would make its frames smaller.
uint32_t most_streams(const WorkerOptions& options);

// Called by the worker's threads, until the destructor has returned.
struct WorkerCallbacks {
  std::function<void(wire::TaskProgressT)> progress;  // while something moves, at most four times a second
  std::function<void(wire::TaskDoneT)> done;          // once per task, also of one that was cancelled
  std::function<void(uint32_t)> streams = {};         // the number of tasks at once that pays now; may be empty
};

// Does most_streams() tasks at a time, each in a thread of its own (and the engine's beneath), with an equal share of
// the memory; one for which that is too little is done again with all of it, when the others have ended. The members
// may be called by any thread.
//
// Of a task that packs, `set` is the name of the set in the stages, and `staged` tells where in the store it is
// written: `container` is a name that is free there; after an error, that container is removed, as far as the store
// allows. Of a task that delivers, `set` is the stored set, and files come to lie below
// delivered_path(stage, set) of the peers (job/delivery/delivery.h): the agents make them visible. Files of no rank in
// particular are rank 0's.
//
// An error in TaskDone has the kind and message of what failed, and `side`: source with the index of the peer (agent or
// stage) that failed, store for the store's file system and what is in it, or other. cancelled (other) after cancel().
class Worker {
 public:
  Worker(WorkerOptions options, WorkerCallbacks callbacks);

  // Cancels what is under way and waits for its end: as long as a system call takes, or an agent is given to answer.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // invalid_argument if there are as many tasks as streams already, or one of that id.
  Result<void> start(wire::TaskT task);

  // Ends the task `id` soon, if it is under way.
  void cancel(uint64_t id);

  bool busy() const;  // with any task; one is over before its done() is called

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::job
