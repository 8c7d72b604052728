// Names of sets: what a set may be called, which step its name tells, and under which name a store keeps it. Pure. What
// any set of a store may be called is is_set_name() of store.h; what a running job may call its sets is narrower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace forebay::store {

// A letter, a digit, or one of "._-+=@,": what needs no care anywhere.
bool is_plain(char c);

// What a set of a running job may be called: the name that forebay_begin() is given, and that of a directory of a
// stage. As is_set_name(), and of 128 characters at most, which leaves room for stored_name(), and not is_temporary().
// invalid_argument, with the rule that is broken.
inline constexpr size_t kMostJobName = 128;
Result<void> check_job_name(std::string_view name);
bool is_job_name(std::string_view name);

// Names that programs give to what they have not finished: hidden ones, and "*.tmp", "*.temp", "*.part", "*~". Of a
// path the last component counts.
bool is_temporary(std::string_view path);

// The last number in a set's name, which labels it where nobody gave a step: 40 in "dump_0040" and in "dump_0040_full".
// Nothing if there is none, if it is larger than a step can be, or if the name tells a time: "0.9", "2000-01-31".
std::optional<int64_t> step_of(std::string_view name);

// The name under which the store keeps the n-th set that is written as `name`, from 1: NAME, NAME+2, NAME+3, ...
std::string stored_name(const std::string& name, uint64_t number);

// What the application called the set, as the manifest says. Those of earlier versions do not: there NAME+2 is taken
// for NAME.
std::string application_name(const Manifest& manifest);

}  // namespace forebay::store
