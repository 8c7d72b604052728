// What a coordinator costs in a large job, and how long the job stands still when nodes are lost: the model with as
// many nodes as one likes, where the coordinator's calls take the time that they really take. For bench/job/many.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "loop.h"

namespace forebay::job::model {

// Sums over the coordinator's calls, with the decoding of what it receives and the encoding of what it sends.
struct Meter {
  Duration spent{}, longest{};  // processor time
  uint64_t calls = 0, messages = 0, bytes = 0;

  // Runs a part of a call.
  template <class Call>
  void run(const Call& call) {
    const Duration begin = processor_time();
    call();
    in_call += processor_time() - begin;
  }
  // The call is over: the time that it took, since nothing else happens to its process meanwhile.
  Duration end_call();
  void coded(const wire::MessageT& message);

  static Duration processor_time();
  Duration in_call{};
};

// `text`: a job as in a scenario ("job nodes 1000 ranks 100 redundancy xor"), and after it how many nodes are lost
// together, as words ("lose 1 10"). Prints a line of JSON for the sets, and one for each loss. invalid_argument: it is
// no such job.
Result<void> print_cost(const std::string& text);

}  // namespace forebay::job::model
