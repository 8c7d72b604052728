// A bound on bytes per second that any number of threads share: a token bucket.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include "base/error.h"

namespace forebay {

// The arithmetic. Tokens are bytes; they accrue with time, up to what a tenth of a second brings. They may be owed:
// whoever takes more than there are waits until its debt is paid, and those who come later wait longer. Not
// thread-safe.
class TokenBucket {
 public:
  using Clock = std::chrono::steady_clock;

  // Full at `now`. `bytes_per_second` is above 0.
  TokenBucket(uint64_t bytes_per_second, Clock::time_point now);

  // Takes `bytes` and tells how long the taker has to wait before it uses them. `now` never decreases.
  Clock::duration take(uint64_t bytes, Clock::time_point now);

  // Undoes a take() of `bytes` that came to nothing.
  void give_back(uint64_t bytes);

 private:
  double rate_, most_, tokens_;
  Clock::time_point last_;
};

// Thread-safe. Grants are in the order of the requests.
class RateLimit {
 public:
  explicit RateLimit(uint64_t bytes_per_second);  // 0: no limit, nobody ever waits

  // Waits until `bytes` may be moved: however many are asked for, bytes / bytes_per_second seconds at most after those
  // before have had theirs. cancelled as soon as `stop` is requested; the bytes are then not counted.
  Result<void> take(uint64_t bytes, std::stop_token stop = {});

  // Counts bytes that were moved already: those who take later wait for them.
  void charge(uint64_t bytes);

 private:
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  const bool is_limited_;
  TokenBucket bucket_;
};

}  // namespace forebay
