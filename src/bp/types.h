// The types of values in BP files: ADIOS's numbers.
#pragma once

#include <cstdint>

namespace forebay::bp {

inline constexpr uint8_t kLongDouble = 7, kString = 9, kComplex = 10, kDoubleComplex = 11, kStrings = 12;
inline constexpr uint8_t kNoType = 255;  // of attributes that have the value of a variable

// Calls use.operator()<T>() for the numbers of at most 8 bytes; false for other types.
template <class Use>
bool with_number(uint8_t type, const Use& use) {
  switch (type) {
    case 0:
      use.template operator()<int8_t>();
      return true;
    case 1:
      use.template operator()<int16_t>();
      return true;
    case 2:
      use.template operator()<int32_t>();
      return true;
    case 4:
      use.template operator()<int64_t>();
      return true;
    case 5:
      use.template operator()<float>();
      return true;
    case 6:
      use.template operator()<double>();
      return true;
    case 50:
      use.template operator()<uint8_t>();
      return true;
    case 51:
      use.template operator()<uint16_t>();
      return true;
    case 52:
      use.template operator()<uint32_t>();
      return true;
    case 54:
      use.template operator()<uint64_t>();
      return true;
    default:
      return false;
  }
}

}  // namespace forebay::bp
