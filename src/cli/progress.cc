#include "cli/progress.h"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/units.h"

namespace forebay::cli {

static constexpr auto kInterval = std::chrono::milliseconds(100);
static constexpr const char* kClearLine = "\r\033[K";

ProgressLine::ProgressLine(std::string label, bool wanted)
    : label_(std::move(label)), is_active_(wanted && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs(kClearLine, stderr);
}

engine::ProgressFn ProgressLine::callback() {
  if (!is_active_) return {};
  return [this](const engine::Progress& progress) { show(progress); };
}

void ProgressLine::show(const engine::Progress& progress) {
  const auto now = Clock::now();
  if (now - shown_.value_or(start_) < kInterval) return;
  shown_ = now;
  const std::chrono::duration<double> seconds = now - start_;
  fmt::print(stderr, "{}{}", kClearLine, progress_text(label_, progress, seconds.count()));
  std::fflush(stderr);
}

std::string progress_text(const std::string& label, const engine::Progress& progress, double seconds) {
  const auto done = static_cast<double>(progress.done_bytes), total = static_cast<double>(progress.total_bytes);
  std::string text = fmt::format("{}: {}", label, format_bytes(progress.done_bytes));
  if (total > 0) text += fmt::format(" of {} ({:.0f} %)", format_bytes(progress.total_bytes), 100 * done / total);
  text += ", " + format_rate(progress.done_bytes, seconds);
  if (done > 0 && total >= done) text += fmt::format(", {} left", format_duration(seconds * (total - done) / done));
  return text;
}

}  // namespace forebay::cli
