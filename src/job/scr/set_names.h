// SCR's names of sets, which may be any text, as names of Forebay's sets, and back. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::scr {

// Letters, digits and "._-+=," stay; everything else, and what would make a name that no set may have, becomes "@XX" in
// hexadecimal digits. invalid_argument if it is empty, or longer than a set's name may be (store/names.h).
Result<std::string> set_of_name(std::string_view name);

// The name that set_of_name() was given. What is no such escape stays.
std::string name_of_set(std::string_view set);

}  // namespace forebay::scr
