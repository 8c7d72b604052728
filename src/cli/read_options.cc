#include "cli/read_options.h"

#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr uint64_t kMostLayoutBytes = uint64_t{1} << 20;

}  // namespace

Setter set_box(std::optional<std::vector<IndexRange>>& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(to, parse_box(text));
    return {};
  };
}

Setter set_numbers(Shape& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(to, parse_numbers(text));
    return {};
  };
}

Setter set_steps(StepRange& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(to, parse_steps(text));
    return {};
  };
}

void declare_set(Syntax& syntax, view::RunOptions& options) {
  syntax.option("--set", "NAME", "Only this set, or 'latest': the run has this step alone. Default: all of the series.",
                set_text(options.set));
}

void declare_layout(Syntax& syntax, std::string& file) {
  syntax.option("--layout", "FILE", "A TOML that says where blocks lie in global arrays.", set_text(file));
}

Result<std::string> layout_text(const std::string& file) {
  if (file.empty()) return std::string();
  return store::read_text(file, kMostLayoutBytes);
}

Result<std::pair<uint64_t, uint64_t>> steps_of(const view::Run& run, const StepRange& range) {
  auto steps = range.of(run.steps().size());
  if (!steps) steps.error().path = run.path();
  return steps;
}

}  // namespace forebay::cli
