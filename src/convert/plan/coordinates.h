// Coordinates: arrays that have the values of a dimension, whose name they have, as in netCDF.
#pragma once

#include <span>
#include <string>

#include "convert/plan/seen.h"

namespace forebay::convert {

// Whether the array of that name has the values of its only dimension.
bool is_coordinate(const std::string& name, const Seen& seen);

// The dimension of time of one step alone, which steps that are stacked are joined along: the first one of the array,
// if it is called so, and has one element. Empty if there is none.
std::string joined_dimension(const Seen& seen);

// Units and calendar of the array of that name, as its attributes have them.
std::string reference_of(const view::Step& step, const std::string& name);

// Whether a coordinate has the same values in all of several steps; false for one of more than 16 MiB. Errors of
// reading.
Result<bool> is_the_same(const view::Run& run, std::span<const view::StepInfo> steps, std::span<const Seen> all);

}  // namespace forebay::convert
