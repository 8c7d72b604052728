// Which containers a set has, with or without a manifest.
#pragma once

#include <string>
#include <vector>

#include "store/store.h"

namespace forebay::engine {

// The file names of the containers of `set`: those that its manifest lists or, if that cannot be read, whatever lies in
// its directory beside the manifest, in order of names.
Result<std::vector<std::string>> container_names(const store::SetInfo& set);

// Whether an error of reading a set means that the set is damaged, rather than that it could not be looked at. What the
// disk does not give back any more (io) is damaged.
bool is_damage(const Error& error);

}  // namespace forebay::engine
