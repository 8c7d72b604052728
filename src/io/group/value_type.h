// The types of values that a program can write through adaptable I/O: those of ADIOS 1.x, with its numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/datatype.h"

namespace forebay::io {

enum class ValueType : uint8_t {
  int8 = 0,
  int16 = 1,
  int32 = 2,
  int64 = 4,
  float32 = 5,
  float64 = 6,
  long_double = 7,
  string = 9,
  complex64 = 10,   // two float32
  complex128 = 11,  // two float64
  string_array = 12,
  uint8 = 50,
  uint16 = 51,
  uint32 = 52,
  uint64 = 54,
};

// The bytes of one element: 16 for long_double; 1 for string (a string variable is a list of bytes); 0 for
// string_array.
uint64_t element_bytes(ValueType type);

// The type as merging, codecs and characteristics see it: long double, complex numbers, strings are opaque.
DataType data_type(ValueType type);

// Whether an element may serve as a dimension.
bool is_integer(ValueType type);

// As tools print it: "byte", "short", "integer", "long long", "real", "double", "long double", "string", "complex",
// "double complex", "string array", "unsigned byte", ...
std::string_view to_string(ValueType type);

// By any of the names that ADIOS's XML knows, in any case: "integer*4", "int", "real*8", "unsigned long", ...
std::optional<ValueType> parse_value_type(std::string_view name);

// All of those names, for suggestions.
std::vector<std::string> value_type_names();

// By its number.
std::optional<ValueType> value_type(int number);

}  // namespace forebay::io
