// Values of one variable in memory, compared many at once. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/datatype.h"
#include "base/meaning.h"
#include "view/query/refine.h"

namespace forebay::view {

// Elements of a number type, in native byte order; of a scalar one that stands for all.
struct Column {
  DataType type;
  const std::byte* first = nullptr;
  bool repeated = false;
  const Meaning* holes = nullptr;  // which integers are holes, that are as NaN; null if none are

  const std::byte* element(size_t i) const { return first + (repeated ? 0 : i * type.size); }
  Number number(size_t i) const;
};

// Sets out[i] to whether elements begin + i fulfil the condition, for i < count.
void compare(const Condition& condition, const Column& column, size_t begin, size_t count, uint8_t* out);

}  // namespace forebay::view
