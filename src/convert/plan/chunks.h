// How arrays are cut into chunks, for targets that store chunks. Pure.
#pragma once

#include "convert/plan/plan.h"

namespace forebay::convert {

// Chunks of about 1 MiB, as cubic as the array allows, of one step and one block each; of `wanted` if the dataset has
// so many dimensions beside these. No larger than the dataset.
Shape chunk_of(const Dataset& dataset, const Shape& wanted);

}  // namespace forebay::convert
