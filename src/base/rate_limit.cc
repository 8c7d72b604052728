#include "base/rate_limit.h"

#include <algorithm>

namespace forebay {

constexpr double kBurstSeconds = 0.1;

TokenBucket::TokenBucket(uint64_t bytes_per_second, Clock::time_point now)
    : rate_(static_cast<double>(bytes_per_second)), most_(rate_ * kBurstSeconds), tokens_(most_), last_(now) {}

TokenBucket::Clock::duration TokenBucket::take(uint64_t bytes, Clock::time_point now) {
  tokens_ = std::min(most_, tokens_ + rate_ * std::chrono::duration<double>(now - last_).count());
  last_ = now;
  tokens_ -= static_cast<double>(bytes);
  const std::chrono::duration<double> owed(std::max(0.0, -tokens_) / rate_);
  // Longer than anybody waits; what is more would not fit into a duration.
  constexpr std::chrono::duration<double> kLongest = std::chrono::hours(24 * 365);
  return std::chrono::ceil<Clock::duration>(std::min(owed, kLongest));
}

void TokenBucket::give_back(uint64_t bytes) { tokens_ += static_cast<double>(bytes); }

RateLimit::RateLimit(uint64_t bytes_per_second)
    : is_limited_(bytes_per_second != 0), bucket_(std::max<uint64_t>(bytes_per_second, 1), TokenBucket::Clock::now()) {}

Result<void> RateLimit::take(uint64_t bytes, std::stop_token stop) {
  if (!is_limited_) return {};
  std::unique_lock lock(mutex_);
  const auto now = TokenBucket::Clock::now();
  const auto until = now + bucket_.take(bytes, now);
  stopped_.wait_until(lock, stop, until, [&] { return TokenBucket::Clock::now() >= until; });
  if (!stop.stop_requested()) return {};
  bucket_.give_back(bytes);
  return fail(ErrorKind::cancelled, "waiting for the rate limit was cancelled");
}

void RateLimit::charge(uint64_t bytes) {
  if (!is_limited_) return;
  const std::lock_guard lock(mutex_);
  bucket_.take(bytes, TokenBucket::Clock::now());
}

}  // namespace forebay
