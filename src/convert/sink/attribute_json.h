// Attributes as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "view/model/array.h"

namespace forebay::convert {

using Json = nlohmann::ordered_json;

// By their names: texts, numbers, or lists of them; complex numbers as pairs. NaN and infinities, which JSON does not
// have, as the texts "NaN", "Infinity" and "-Infinity". What is neither is left out.
Json json_of(std::span<const view::Attribute> attributes);

}  // namespace forebay::convert
