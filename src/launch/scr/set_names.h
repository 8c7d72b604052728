// SCR's names of sets, which may be any text, as names of Forebay's sets, and back. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::scr {

// SCR_MAX_FILENAME has room for a name of this length and its end.
inline constexpr size_t kMostName = 1023;

// Letters, digits and "._-+=," stay; everything else, and what would make a name that no set may have, becomes "@XX" in
// hexadecimal digits. Of a name that is too long for a set then (store/names.h) the beginning stays, and "@=" with the
// hash of the whole name follows. invalid_argument if it is empty, or longer than kMostName bytes.
Result<std::string> set_of_name(std::string_view name);

// The name that set_of_name() was given. What is no such escape stays. Of a long name it gives what set_of_name() makes
// the same set of, and that is all that can be told: the index has the name itself.
std::string name_of_set(std::string_view set);

}  // namespace forebay::scr
