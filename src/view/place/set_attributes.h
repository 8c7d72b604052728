// The attributes of a set's files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "view/place/recogniser.h"

namespace forebay::view {

struct SetAttributes {
  std::vector<Attribute> attributes;
  std::map<std::string, std::vector<std::string>, std::less<>>
      dimensions;  // format::FileAttributes::dimensions of all files
};

// Those of the first files that have any, in the order of ranks; of one name in several files the first one's value.
// What damaged files would say is left out.
SetAttributes attributes_of_set(const SetLook& look, std::span<const StoredArray> stored);

}  // namespace forebay::view
