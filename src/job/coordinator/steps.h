// How long something has spent in each of its steps, on the clock. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace forebay::job {

class Steps {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Steps() = default;
  explicit Steps(Time begin) : since_(begin) {}

  // What has passed since the step before belongs to `name`; steps may come again. `name` outlives this.
  void end(std::string_view name, Time now) {
    const std::chrono::duration<double> spent = now - std::exchange(since_, now);
    const auto known = std::ranges::find(seconds_, name, [](const auto& step) { return step.first; });
    if (known != seconds_.end())
      known->second += spent.count();
    else
      seconds_.emplace_back(name, spent.count());
  }

  // In the order in which they first ended.
  const std::vector<std::pair<std::string_view, double>>& seconds() const { return seconds_; }

  // "stage 0.1 s, pack 2.0 s"; empty if there was none.
  std::string text() const {
    std::string text;
    for (const auto& [name, seconds] : seconds_)
      text += fmt::format("{}{} {:.1f} s", text.empty() ? "" : ", ", name, seconds);
    return text;
  }

 private:
  Time since_{};
  std::vector<std::pair<std::string_view, double>> seconds_;
};

// For the end of a line of the log.
inline std::string in_steps(const Steps& steps) {
  const std::string text = steps.text();
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace forebay::job
