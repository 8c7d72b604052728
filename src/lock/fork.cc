#include "lock/fork.h"

#include <atomic>

#include <pthread.h>

namespace forebay::lock {

static std::atomic<uint64_t> forks{0};

uint64_t fork_generation() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

}  // namespace forebay::lock
