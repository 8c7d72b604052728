// The sets of a prefix in its store: what the application or the user has deleted or dropped is not restarted from, by
// whichever process. Nothing to do where there is no store, or no such set in it.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "launch/scr/places.h"

namespace forebay::scr {

// Removes all writings of the set, or all sets of the prefix. One whose frames another set needs is set aside instead.
Result<void> remove_stored(const Places& places, std::string_view set);
Result<void> remove_all_stored(const Places& places);

// Sets all writings of the set aside. Nothing of them is removed.
Result<void> drop_stored(const Places& places, std::string_view set);
// Takes drop_stored() back. What was set aside for another reason stays so.
Result<void> take_back_stored(const Places& places, std::string_view set);

}  // namespace forebay::scr
