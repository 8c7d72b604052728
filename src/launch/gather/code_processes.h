// The processes of a code on this node, by their environment, and which of them have ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include <sys/types.h>

namespace forebay::launch {

// Not thread-safe.
class CodeProcesses {
 public:
  // Of this user, those that `forebay run` has started for a job with that stage, and what they have started: their
  // environment has FOREBAY_STAGE=`stage` and FOREBAY_ATTEMPT. Ones that are younger than `least_age` are left out, for
  // codes run programs that end soon.
  CodeProcesses(const std::string& stage, std::chrono::milliseconds least_age) : stage_(stage), least_age_(least_age) {}

  // Whether one of those that the last call saw has ended since.
  bool has_lost_one();

  void forget() { seen_.clear(); }

 private:
  const std::string stage_;
  const std::chrono::milliseconds least_age_;
  std::map<pid_t, uint64_t> seen_;
};

}  // namespace forebay::launch
