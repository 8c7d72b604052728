// The input that a code's command names (launch/recipes/code_input.h): what is to be said of it before the first start,
// and the copy of it that a restart runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "launch/recipes/code_input.h"

namespace forebay::cli {

struct InputLook {
  bool is_copied = false;  // a restart runs a copy
  std::string is;          // "in.melt does not resume by itself"; empty: all is well, or nothing matters
  std::string change;      // what the user has to do; empty: nothing
};

// Reads the input, relative to the working directory. `code`: its name.
InputLook look_at_input(const std::string& code, const std::optional<launch::CodeInput>& input,
                        const std::vector<std::string>& command);

// The copy is a file beside the input, which is not changed.
std::string copy_of_input(const std::string& path);

// Makes the copy, and returns the command that runs it; the command as it is if the input resumes by itself. exists if
// a file of somebody else's has the copy's name; what launch::resumed_input() returns, with the path; those of the
// files.
Result<std::vector<std::string>> command_with_copy(const launch::CodeInput& input, std::vector<std::string> command,
                                                   const launch::rules::Words& words);

}  // namespace forebay::cli
