// A request of a connection that waits for its answer. Lives on the stack of its thread. Used by connection*.cc alone.
#pragma once

#include <condition_variable>
#include <optional>
#include <string_view>
#include <vector>

#include "lock/connection.h"

namespace forebay::lock {

struct Connection::Waiter {
  explicit Waiter(uint64_t a_number) : number(a_number) {}
  uint64_t number;
  Clock::time_point sent;
  struct Wants {
    std::string_view file;
    const Region* region = nullptr;
    Access access = Access::shared;
  };
  Wants wants;               // of a lock
  bool may_lend = false;     // the answer may be a loan
  Ahead ahead;               // of these, for one
  bool served_here = false;  // from a loan: another thread of this process ends the wait
  bool done = false;
  std::optional<wire::Reason> refused;
  int64_t value = 0;
  std::vector<wire::Status> status;
  std::condition_variable changed;
};

}  // namespace forebay::lock
