// The clock by which leases are counted: steady, and the same for a server or client as long as it lives. Tests have
// one that they move on, so that they need not wait for leases to end.
#pragma once

#include <chrono>

namespace forebay::lock {

using Clock = std::chrono::steady_clock;

using LeaseClock = Clock::time_point (*)();
inline constexpr LeaseClock kSteadyLeases = &Clock::now;

}  // namespace forebay::lock
