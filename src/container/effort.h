// How much time an index is worth.
#pragma once

#include <cstdint>

namespace forebay::container {

// `thorough` compression, or one that is quick with the few rows of a step.
enum class Effort : uint8_t { thorough, quick };

}  // namespace forebay::container
