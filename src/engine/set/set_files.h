// Which containers a set has, with or without a manifest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "store/store.h"

namespace forebay::engine {

// The file names of the containers of `set`: those that its manifest lists or, if that cannot be read, whatever lies in
// its directory beside the manifest, in order of names: nothing if something else is in the place of the directory.
Result<std::vector<std::string>> container_names(const store::SetInfo& set);

// The name of container `number` of a set of `count`: "00002-of-00004.fbc". It tells which are missing even without a
// manifest. Where several are written before one of them counts, `attempt` tells them apart: "00002-of-00004.7.fbc".
std::string container_name(size_t number, size_t count, uint64_t attempt = 0);

// The names of the containers that `names` lack of their set, as far as those names tell.
std::vector<std::string> missing_containers(const std::vector<std::string>& names);

// Whether an error of reading a set means that the set is damaged, rather than that it could not be looked at. What the
// disk does not give back any more (io) is damaged.
bool is_damage(const Error& error);

}  // namespace forebay::engine
