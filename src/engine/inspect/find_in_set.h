// Where variables lie in a set, of which one container is open at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/inspect/extract.h"
#include "engine/options.h"
#include "store/store.h"

namespace forebay::engine {

// As find_variables() would find them in the open set: Found::container is a number in the manifest. `resources` are
// resolved, and their memory is for buffers alone. Errors as of for_each_container(), and of open_listed() where a
// container cannot be opened.
Result<std::vector<Found>> find_in_set(const store::SetInfo& set, const std::string& path, std::optional<uint32_t> rank,
                                       const Resources& resources);

}  // namespace forebay::engine
