#include "cli/arrays/read_options.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/text.h"
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
  syntax.option(
      "--set", "NAME",
      "Only this set, or 'latest', or 'step:NUMBER': the run has this step alone. Default: all of the series.",
      set_text(options.set));
}

void declare_layout(Syntax& syntax, std::string& file) {
  syntax.option("--layout", "FILE", "A TOML that says where blocks lie in global arrays.", set_text(file));
}

Result<std::string> layout_text(const std::string& file) {
  if (file.empty()) return std::string();
  return store::read_text(file, kMostLayoutBytes);
}

void declare_raw(Syntax& syntax, bool& raw) {
  syntax.flag("--raw", raw,
              "Take values as files have them, without netCDF's fill values, ranges, scales and offsets.");
}

void declare_skip_damaged(Syntax& syntax, bool& skip) {
  syntax.flag("--skip-damaged", skip,
              "Leave out steps that are damaged, instead of failing; the others keep their numbers.");
}

bool is_damage(const Error& error) { return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::unsupported; }

Result<std::pair<uint64_t, uint64_t>> steps_of(const view::Run& run, const StepRange& range) {
  const auto infos = run.steps();
  auto steps = range.of(infos.size());
  if (!steps) {
    steps.error().path = run.path();
    return steps;
  }
  for (const view::StepInfo& info : infos)
    if (info.damage && (info.number < steps->first || info.number >= steps->second))
      warn(printable(info.damage->message()));
  return steps;
}

// The steps [first, end) that can be opened, and the others.
static Result<ReadableSteps> opened_steps(const view::Run& run, uint64_t first, uint64_t end) {
  ReadableSteps readable;
  const auto infos = run.steps();
  for (uint64_t number = first; number < end; ++number) {
    const auto step = run.step(number);
    if (step) {
      readable.numbers.push_back(number);
      continue;
    }
    if (!is_damage(step.error())) return std::unexpected(step.error());
    readable.damaged.push_back(infos[number]);
    readable.damaged.back().damage = std::make_shared<const Error>(step.error());
  }
  return readable;
}

Result<ReadableSteps> readable_steps(const view::Run& run, const StepRange& range, bool skip_damaged) {
  FOREBAY_TRY(const auto wanted, steps_of(run, range));
  ReadableSteps readable;
  if (!skip_damaged) {
    const auto infos = run.steps();
    for (uint64_t number = wanted.first; number < wanted.second; ++number)
      (infos[number].damage ? readable.damaged.push_back(infos[number]) : readable.numbers.push_back(number));
  } else if (range.is_latest()) {
    for (uint64_t end = wanted.second; end > 0 && readable.numbers.empty(); --end) {
      FOREBAY_TRY(ReadableSteps one, opened_steps(run, end - 1, end));
      readable.numbers = std::move(one.numbers);
      std::ranges::move(one.damaged, std::back_inserter(readable.damaged));
    }
  } else {
    FOREBAY_TRY(readable, opened_steps(run, wanted.first, wanted.second));
  }
  const bool is_failed = !readable.damaged.empty() && (!skip_damaged || readable.numbers.empty());
  for (size_t i = is_failed ? 1 : 0; i < readable.damaged.size(); ++i)
    warn(printable(readable.damaged[i].damage->message()));
  if (!is_failed) return readable;
  Error error = *readable.damaged[0].damage;
  if (!skip_damaged) error.hint += fmt::format("{}--skip-damaged leaves it out", error.hint.empty() ? "" : "; ");
  return std::unexpected(std::move(error));
}

Json json_left_out(const std::vector<view::StepInfo>& damaged) {
  Json list = Json::array();
  for (const view::StepInfo& info : damaged) {
    Json json = {{"number", info.number}, {"set", info.set.empty() ? Json() : json_text(info.set)}};
    json.update(json_error(*info.damage));
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace forebay::cli
