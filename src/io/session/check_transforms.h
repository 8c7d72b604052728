// The transforms that a definition asks for: which of them there are.
#pragma once

#include <string>
#include <vector>

#include "io/group/definition.h"
#include "io/group/failure.h"

namespace forebay::io {

// One message for all variables of the group that ask for the same; it names the first of them, and its place.
struct CheckedTransforms {
  std::vector<Failure> refused;  // unknown_transform
  std::vector<std::string> warnings;
};

// Takes what is refused out of the definition: the values of these variables are stored as they are.
CheckedTransforms check_transforms(GroupDefinition& definition);

}  // namespace forebay::io
