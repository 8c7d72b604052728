// What can be said of a query from characteristics alone. Pure.
#pragma once

#include <optional>
#include <span>

#include "container/cubes.h"
#include "view/model/array.h"
#include "view/query/expression.h"

namespace forebay::view {

// For how many of some elements something holds.
enum class Truth : uint8_t { none, maybe, all };

// Of `elements` elements (above 0) that are among those that the characteristics were taken of. What cannot be right,
// or is not of all of them, says nothing: maybe. Bounds of integers that a double rounded are taken outward.
Truth judge(const Condition& condition, const DataType& type, const std::optional<container::Characteristics>& known,
            uint64_t elements);

// Of elements, one at least, that are among those of a cube.
Truth judge(const Condition& condition, const DataType& type, const container::Cube& cube);

// Of the whole expression, from its conditions'.
Truth judge(const Expression& expression, std::span<const Truth> conditions);

}  // namespace forebay::view
