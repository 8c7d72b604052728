// What is inside the seal of a manifest, for texts that hold several.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "store/store.h"

namespace forebay::store {

nlohmann::json to_json(const Manifest& manifest);

// Checks as parse_manifest(), whatever `body` is.
Result<Manifest> manifest_from_json(const nlohmann::json& body, const std::string& path);

}  // namespace forebay::store
