// The simulation's time that a set's files have under a common name.
#pragma once

#include <optional>

#include "view/place/recogniser.h"

namespace forebay::view {

// Of a variable of one element, "/time", "/Time", "/TIME" or "/t", which the characteristics tell; or else of an
// attribute of that name of the first file that may have such. Nothing if it is not a finite number.
std::optional<double> time_of_set(const SetLook& look, std::span<const SetFile> files);

}  // namespace forebay::view
