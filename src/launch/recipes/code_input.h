// The input that a code's command names: whether the code resumes by it, and the copy of it by which it does
// (docs/rules.md, "Inputs"). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/rules/pattern.h"
#include "launch/rules/template.h"

namespace forebay::launch {

inline constexpr uint64_t kMostInputBytes = 1 << 20;

// Patterns are of lines without comments, with one blank where there are several; a line that goes on in the next one
// is one with it.
struct CodeInput {
  struct Edit {
    rules::Pattern from;
    rules::Template to;  // lines; {path}, {set}, {step}, the fields of `from`, and its *
    bool operator==(const Edit&) const = default;
  };
  std::vector<std::string> after;       // words of the command, of which one stands before the input's name
  std::string comment, continues;       // what begins a comment, and ends a line that goes on; empty: nothing does
  std::vector<rules::Pattern> resumes;  // with a line of these the code resumes
  std::string needs;                    // said where it has none
  // Of the copy, for each line the first that matches: what stays, may not be there, goes, is replaced. Without
  // `replace` no copy is made.
  std::vector<rules::Pattern> keep, refuse, drop;
  std::vector<Edit> replace;
  std::optional<rules::Pattern> once;  // has to be there once, and what goes or is replaced stands before it
  bool operator==(const CodeInput&) const = default;
};

// "PATTERN -> TEXT". invalid_argument with the column.
Result<CodeInput::Edit> parse_edit(std::string_view text);

// Which word of the command is the input's name; nothing: none is.
std::optional<size_t> input_word(const CodeInput& input, std::span<const std::string> command);

bool resumes_by_itself(const CodeInput& input, std::string_view text);

// The copy for a restart. unsupported, with the line and its number, if the input may mean something else in a copy.
// `words`: of {path}, {set} and {step}.
Result<std::string> resumed_input(const CodeInput& input, std::string_view text, const rules::Words& words);

}  // namespace forebay::launch
