// What a job's coordinators have counted, one after another. Each tells the agents with the news of a set, so that who
// has heard of a set has the tally with it; the next one learns it of the agent that was told last. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "job/wire/messages.h"

namespace forebay::job {

class Tally {
 public:
  // `generation`: of this coordinator.
  explicit Tally(uint64_t generation) : generation_(generation) {}

  // A set has ended, with one of the states that are final. `stored_as`: of a durable one, its name in the store. One
  // of which not all agents have heard is offered again, and ends again: it is not counted twice while it is among the
  // durable sets that were counted last.
  void ended(wire::SetState state, const std::string& stored_as);
  // So many bytes of files were committed, in so many of containers.
  void committed(uint64_t raw_bytes, uint64_t stored_bytes);
  // The application has completed a set that may be stored as one of every so many. Whether this is the one.
  bool completed(uint32_t flush_every);
  // It was, but was not stored: the next one is.
  void flush_failed(uint32_t flush_every) { unflushed_ = flush_every; }
  // A restart was answered.
  void restarted() { ++own_.restarts; }

  // What an agent was told by an earlier coordinator. Of several the one with the most sets counts; one of this
  // generation or a later one is passed over.
  void learn(const wire::TallyT& tally);

  // Of all coordinators so far, as SetNews has it.
  wire::TallyT total() const;

 private:
  struct Counts {
    uint64_t durable = 0, skipped = 0, failed = 0, cached = 0, restarts = 0, raw_bytes = 0, stored_bytes = 0;
  };

  uint64_t generation_;
  Counts own_;                      // of this coordinator
  uint64_t unflushed_ = 0;          // complete sets since the last one that was due to be stored
  wire::TallyT earlier_;            // what earlier ones have counted
  std::deque<std::string> latest_;  // durable sets that were counted last, by either
};

}  // namespace forebay::job
