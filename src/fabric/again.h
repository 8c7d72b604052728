// Trying again where a server ended a connection before it knew who is there: one that many strangers come to keeps the
// newest of them (strangers.h), and the others come again.
#pragma once

#include <algorithm>
#include <chrono>

#include <poll.h>
#include <sodium.h>

#include "base/error.h"

namespace forebay::fabric {

class Again {
 public:
  explicit Again(std::chrono::steady_clock::time_point deadline) : deadline_(deadline) {}

  // After a handshake that has failed: true, after a pause, if it is to be tried on a new connection.
  bool after(const Error& error) {
    if (error.kind != ErrorKind::disconnected || ++attempts_ > kMostAttempts) return false;
    // Of many that were turned away at once, few come back at once.
    const auto pause =
        pause_ / 2 + std::chrono::milliseconds(randombytes_uniform(static_cast<uint32_t>(pause_.count())));
    if (std::chrono::steady_clock::now() + pause >= deadline_) return false;
    ::poll(nullptr, 0, static_cast<int>(pause.count()));
    pause_ = std::min(2 * pause_, kLongestPause);
    return true;
  }

 private:
  static constexpr int kMostAttempts = 12;  // some two seconds
  static constexpr std::chrono::milliseconds kLongestPause{250};
  const std::chrono::steady_clock::time_point deadline_;
  std::chrono::milliseconds pause_{4};
  int attempts_ = 0;
};

}  // namespace forebay::fabric
