// How far an operation is: one line on a terminal, rewritten; nothing anywhere else.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engine/options.h"

namespace forebay::cli {

class ProgressLine {
 public:
  // `label` starts the line: "packing". `wanted` is false where this process is not the one to show it.
  explicit ProgressLine(std::string label, bool wanted = true);
  ~ProgressLine();  // leaves the line empty
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // To be given to the engine; empty if standard error is not a terminal. Valid as long as this object lives.
  engine::ProgressFn callback();

 private:
  using Clock = std::chrono::steady_clock;
  void show(const engine::Progress& progress);

  std::string label_;
  bool is_active_;
  Clock::time_point start_ = Clock::now();
  std::optional<Clock::time_point> shown_;
};

// The line's text: label, share, bytes, rate and time left. Pure.
std::string progress_text(const std::string& label, const engine::Progress& progress, double seconds);

}  // namespace forebay::cli
