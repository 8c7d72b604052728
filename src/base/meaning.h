// What the stored values of a variable mean, by the conventions of netCDF (CF): which of them say that there is no
// value, and how others become numbers of the quantity. docs/reading.md, "Holes and packed values". Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/datatype.h"

namespace forebay {

struct Meaning {
  // Of stored values, after is_unsigned. Every number of 64 bits is a long double.
  std::vector<long double> fills;          // these are holes
  std::optional<long double> least, most;  // what is outside is a hole
  bool is_unsigned = false;                // integers that are stored as signed ones are unsigned
  std::optional<double> scale, offset;     // value = stored * scale + offset, if either is there
  uint16_t unpacked_bytes = 8;             // then: of the floating-point type that scale and offset have, 4 or 8

  bool operator==(const Meaning&) const = default;
  bool is_plain() const { return *this == Meaning{}; }
  bool has_holes() const { return !fills.empty() || least || most; }
  bool is_packed() const { return scale || offset; }
};

// One line of words, "fill 1e+20 most 50 scale 0.1 bytes 4", and back; nothing for what is none. A container keeps it.
inline constexpr size_t kMostMeaningBytes = 4096;
std::string to_text(const Meaning& meaning);
std::optional<Meaning> parse_meaning(std::string_view text);

// Whether elements of this type may have a meaning: numbers but binary16.
bool can_mean(const DataType& type);

// The type of stored elements, for which that is so, as below; unsigned if they are; what fills and bounds are of.
DataType stored_type(const Meaning& meaning, const DataType& type);

// The type of what they mean, in the machine's byte order: floating-point numbers of what is packed, and of integers
// that may be holes, which are NaN. Integers of 64 bits that are not packed stay what they are, since no
// floating-point type has them all: their holes keep their stored value.
DataType meant_type(const Meaning& meaning, const DataType& type);

// A value that was stored, as a double; without regard to holes.
double meant(const Meaning& meaning, const DataType& to, double stored);

// Elements of `type`, one after another, as elements of `to`, which is meant_type() or any floating-point type.
// `values` and `out` may be the same if the types have one size. How many are holes.
uint64_t to_meant(const Meaning& meaning, const DataType& type, const DataType& to, std::span<const std::byte> values,
                  std::byte* out);

// Its holes alone; and a floating-point type, in which these can be NaN, that elements of `type` fit into as they do
// into doubles.
Meaning without_packing(const Meaning& meaning);
DataType with_room_for_nan(const DataType& type);

// Sets out[i] to whether element i of `type` is a hole, for values.size() / type.size elements.
void find_holes(const Meaning& meaning, const DataType& type, std::span<const std::byte> values, uint8_t* out);

}  // namespace forebay
