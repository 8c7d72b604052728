// Options of the verbs that read arrays of a run.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.h"
#include "cli/arrays/box_option.h"
#include "cli/arrays/read_wish.h"
#include "cli/json.h"
#include "cli/syntax.h"
#include "view/source/run.h"

namespace forebay::cli {

Setter set_box(std::optional<std::vector<IndexRange>>& to);
Setter set_numbers(Shape& to);
Setter set_steps(StepRange& to);

// --set, for the run that is opened with `options`.
void declare_set(Syntax& syntax, view::RunOptions& options);

// --layout, and the text of the file that it names: empty if it names none. Errors of store::read_text().
void declare_layout(Syntax& syntax, std::string& file);
Result<std::string> layout_text(const std::string& file);

// --raw.
void declare_raw(Syntax& syntax, bool& raw);

// --skip-damaged.
void declare_skip_damaged(Syntax& syntax, bool& skip);

// Whether a step that cannot be opened for this reason is one that --skip-damaged leaves out.
bool is_damage(const Error& error);

// StepRange::of() the run, whose path an error names. Warns of steps that are damaged and not among them.
Result<std::pair<uint64_t, uint64_t>> steps_of(const view::Run& run, const StepRange& range);

// Steps of a run that are wanted and can be opened.
struct ReadableSteps {
  std::vector<uint64_t> numbers;        // rising; one at least
  std::vector<view::StepInfo> damaged;  // that were left out, with StepInfo::damage
};

// Those of steps_of(). If one is damaged, the error of the first one, and a warning of each other one; with
// `skip_damaged` a warning of each, and an error only if no step is left. Of "latest" the last one that is not damaged
// is taken then.
Result<ReadableSteps> readable_steps(const view::Run& run, const StepRange& range, bool skip_damaged);

// "left_out" for --json: what is known of the steps that were left out.
Json json_left_out(const std::vector<view::StepInfo>& damaged);

}  // namespace forebay::cli
