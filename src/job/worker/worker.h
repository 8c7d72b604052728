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
  std::string store;            // the job's store, as this process reaches it
  engine::PackOptions pack;     // of it what says how to pack: scheme, profile, lossy, similarity, format
  engine::Resources resources;  // for the task under way; `progress` is not used
  RateLimit* limit =
      nullptr;  // of what is written to the store, by all tasks together; outlives the worker; null: none
  fabric::Credentials credentials;
  std::string node;  // fabric::node_identity() of this process
  FabricChoice fabric = FabricChoice::automatic;
  std::chrono::milliseconds patience{10'000};  // with an agent that says nothing
};

// Called by the worker's thread, until the destructor has returned.
struct WorkerCallbacks {
  std::function<void(wire::TaskProgressT)> progress;  // while something moves, at most four times a second
  std::function<void(wire::TaskDoneT)> done;          // once per task, also of one that was cancelled
};

// Does one task at a time, in a thread of its own (and the engine's beneath). The members may be called by any thread.
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

  // invalid_argument if there is a task already.
  Result<void> start(wire::TaskT task);

  // Ends the task `id` soon, if that is the one under way.
  void cancel(uint64_t id);

  bool busy() const;  // false again before done() is called

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::job
