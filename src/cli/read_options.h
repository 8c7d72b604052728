// Options of the verbs that read arrays of a run.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.h"
#include "cli/box_option.h"
#include "cli/read_wish.h"
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

// StepRange::of() the run, whose path an error names.
Result<std::pair<uint64_t, uint64_t>> steps_of(const view::Run& run, const StepRange& range);

}  // namespace forebay::cli
