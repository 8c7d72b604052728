// The same action for many things at once, where each of them waits for a slow file system rather than for the
// processor.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"

namespace forebay {

// Calls action(i) for each i < count, from this thread and up to most - 1 others, which end with the call. Returns the
// error of the lowest i that failed; once one has failed, no other is begun. `action` is a Result<void>(size_t) that
// does not throw. Without further threads this one does it all.
template <class Action>
Result<void> parallel_for(size_t count, size_t most, const Action& action) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  size_t failed = std::numeric_limits<size_t>::max();
  Result<void> result;
  const auto work = [&] {
    for (size_t i = next++; i < count; i = next++) {
      auto done = action(i);
      if (done) continue;
      next = count;
      const std::lock_guard lock(mutex);
      if (i > failed) continue;
      failed = i;
      result = std::move(done);
    }
  };
  std::vector<std::jthread> others;
  const size_t threads = std::min(most, count);
  try {
    while (others.size() + 1 < threads) others.emplace_back(work);
  } catch (const std::system_error&) {
  }
  work();
  others.clear();
  return result;
}

}  // namespace forebay
