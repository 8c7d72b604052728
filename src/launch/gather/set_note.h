// What a set that a rule found says of itself: the text SET/.forebay-set, which is stored with its files
// (docs/rules.md).
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "launch/rules/evaluator.h"
#include "launch/rules/restore_plan.h"

namespace forebay::launch {

inline constexpr std::string_view kSetNote = ".forebay-set";
inline constexpr uint64_t kMostSetNote = 4 << 20;

struct SetNote {
  std::string rule;       // as print_rule() has it
  rules::StoredSet set;   // members: sizes and paths below SET/
  std::string suspicion;  // why it is not the first choice of a restart; empty: it is whole
};

// Pure. parse: corrupt or unsupported, with `path`, for anything that encode_set_note() did not make; paths that would
// leave the set's directory among it.
std::string encode_set_note(const SetNote& note);
Result<SetNote> parse_set_note(std::string_view text, const std::string& path);

}  // namespace forebay::launch
