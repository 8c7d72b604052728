// From a type that is known when the program runs to one that the compiler knows.
#pragma once

#include <cstdint>

#include "base/datatype.h"

namespace forebay {

// Calls visit with a zero of the type that `type` is: a number, and none of binary16.
template <class Visit>
auto with_type(const DataType& type, const Visit& visit) {
  if (type.kind == Kind::floating) return type.size == 4 ? visit(float{}) : visit(double{});
  if (type.kind == Kind::signed_int)
    return type.size == 1   ? visit(int8_t{})
           : type.size == 2 ? visit(int16_t{})
           : type.size == 4 ? visit(int32_t{})
                            : visit(int64_t{});
  return type.size == 1   ? visit(uint8_t{})
         : type.size == 2 ? visit(uint16_t{})
         : type.size == 4 ? visit(uint32_t{})
                          : visit(uint64_t{});
}

}  // namespace forebay
