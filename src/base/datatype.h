// The type of a variable's elements, as far as merging, codecs and characteristics need it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay {

enum class Kind : uint8_t { opaque = 0, signed_int = 1, unsigned_int = 2, floating = 3 };
enum class ByteOrder : uint8_t { little = 0, big = 1 };

// Numbers have sizes 1, 2, 4 or 8 (floating: 2, 4 or 8); everything else (characters, compounds, complex numbers,
// filtered chunks) is opaque with its element size in bytes, 1 <= size <= 65535.
struct DataType {
  Kind kind = Kind::opaque;
  ByteOrder order = ByteOrder::little;
  uint16_t size = 1;

  auto operator<=>(const DataType&) const = default;

  bool is_number() const { return kind != Kind::opaque; }
  bool is_valid() const;

  // "f4", "i8", "u1", "x24"; big-endian numbers of more than one byte carry a prefix: ">f8".
  std::string name() const;

  // The inverse of name(), also accepting a "<" prefix. invalid_argument if `name` is none.
  static Result<DataType> parse(std::string_view name);
};

inline constexpr DataType kBytes{};

}  // namespace forebay
