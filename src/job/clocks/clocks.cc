#include "job/clocks/clocks.h"

#include <array>

#include <fmt/format.h>

namespace forebay::job {
namespace {

constexpr std::array<const TimeBound*, 9> kAll = {&clocks::kPeer,  &clocks::kStall,   &clocks::kSet,
                                                  &clocks::kNode,  &clocks::kStart,   &clocks::kGrace,
                                                  &clocks::kPause, &clocks::kRestart, &clocks::kDrain};

}  // namespace

std::span<const TimeBound* const> all_clocks() { return kAll; }

std::string seconds_text(std::chrono::milliseconds time) {
  return fmt::format("{}", static_cast<double>(time.count()) / 1000);
}

std::string help_of(const TimeBound& clock) {
  return fmt::format("{} Default: {}.", clock.bounds, seconds_text(clock.length));
}

}  // namespace forebay::job
