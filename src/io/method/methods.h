// The methods of this folder.
#pragma once

#include <vector>

#include "io/method/registry.h"

namespace forebay::io {

MethodEntry null_method();  // writes nothing

// All of them, in the order in which programs are told of them.
std::vector<MethodEntry> own_methods();

}  // namespace forebay::io
