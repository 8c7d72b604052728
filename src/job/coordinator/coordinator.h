// What the coordinator of a job does, without sockets, files, threads or a clock of its own (decision 0019): agents and
// workers with their pings, sets from the first offer to the store, tasks, restarts, and the end. (session, message,
// now) in; decisions, messages, commands for the store and lines to print out. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/coordinator/coordinator_options.h"
#include "job/coordinator/session.h"
#include "job/coordinator/store_commands.h"
#include "job/decisions/facts.h"
#include "job/wire/messages.h"

namespace forebay::job {

// What is to be done, in the order of each list.
struct CoordinatorOutput {
  struct ToSend {
    SessionId to = 0;
    wire::MessageT message;
    bool at_once = false;  // nothing that is not logged yet follows from it
  };
  std::vector<Decision> decisions;  // for the log; logged() is to be called when they are in it
  std::vector<ToSend> messages;
  std::vector<SessionId> closed;  // connections to be closed after that; disconnected() need not be called for them
  std::vector<StoreCommand> commands;
  std::vector<LogLine> log;
  std::optional<std::string> step_down;  // why another one had better be the coordinator
};

// The order of messages (docs/wire.md, "Jobs"): a session begins with AgentHello or WorkerHello, answered by Welcome,
// or asks with StatusRequest, StopRequest or Exclude only. An agent that is there under the same node and stage already
// takes the other one's place.
class Coordinator {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `facts`: what coordinators before have decided.
  Coordinator(const CoordinatorOptions& options, uint64_t generation, Time now, Facts facts = {});
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // `session` was never used before. `peer` is for messages.
  void connected(SessionId session, std::string peer, Time now);
  // `message` is from wire::decode(). corrupt or limit if the other side breaks the protocol: then its connection is to
  // be closed, and disconnected() called.
  Result<void> received(SessionId session, wire::MessageT message, Time now);
  void disconnected(SessionId session, Time now);
  void answered(StoreAnswer answer, Time now);
  // This number more of decisions are in the log. Until then nobody hears what follows from them, or from what came
  // after them.
  void logged(uint64_t decisions, Time now);
  // They cannot be written, and are tried again.
  void log_failed(const Error& error, Time now);

  // To be called at next_tick() or later, after what has arrived was received. No call of this class takes long: what
  // a set of a million files needs is done a slice at a time, and next_tick() is a time that has passed as long as
  // there are more.
  void tick(Time now);
  Time next_tick() const;

  // What is to be done since the last call, as far as all is logged that it follows from.
  CoordinatorOutput take_output();

  // A message of this kind came, or went out, in a frame of so many bytes: the status sums them up.
  void count_received(wire::Body kind, size_t bytes);
  void count_sent(wire::Body kind, size_t bytes);

  // Whether the job is over: Stop was sent to everybody.
  bool stopped() const;
  // Whether nobody is connected but those who ask, and the worker of this process.
  bool is_left_alone() const;
  // Whether an agent is there, or something is under way.
  bool is_needed() const;

  struct Impl;  // coordinator_impl.h

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::job
