// The attributes of a set's files.
#pragma once

#include <vector>

#include "view/place/recogniser.h"

namespace forebay::view {

// Those of the first files that have any, in the order of ranks; of one name in several files the first one's value.
// What damaged files would say is left out.
std::vector<Attribute> attributes_of_set(const SetLook& look, std::span<const StoredArray> stored);

}  // namespace forebay::view
