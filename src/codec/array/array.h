// One array by itself, for those who have files of their own: encoded with what is needed to decode it (docs/codecs.md,
// "An array by itself"). Pure, and thread-safe as the codecs are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/datatype.h"
#include "base/error.h"
#include "codec/choice/chooser.h"

namespace forebay::codec {

inline constexpr size_t kMostArrayDimensions = 16;
inline constexpr uint64_t kMostArrayBytes = uint64_t{1} << 30;  // raw

// The number of the filter of HDF5 whose chunks are such arrays (docs/hdf5-filter.md): one of those that are left to
// users.
inline constexpr uint16_t kHdf5Filter = 480;

// What an array is.
struct ArrayShape {
  DataType type;
  std::vector<uint64_t> dims;  // the last varies fastest; none: one element

  // Its elements times their size. invalid_argument if it has more dimensions than kMostArrayDimensions or a type that
  // is none, limit if it has more than kMostArrayBytes.
  Result<uint64_t> bytes() const;

  bool operator==(const ArrayShape&) const = default;
};

// The most bytes that encode_array() makes of `raw_bytes`.
constexpr uint64_t array_bound(uint64_t raw_bytes) { return raw_bytes + 40 + 8 * kMostArrayDimensions; }

// Encodes the elements `raw`. Errors of shape.bytes(); invalid_argument if `raw` has another size than that.
Result<Bytes> encode_array(const Profile& profile, const ArrayShape& shape, std::span<const std::byte> raw);

// What `encoded`, which is hostile, says of the array: its head is checked, its elements are not. corrupt, or
// unsupported if it is of a later version.
Result<ArrayShape> describe_array(std::span<const std::byte> encoded);

// Decodes it into `raw`, whose size is that of describe_array()'s shape, and checks the elements. Errors as of
// describe_array(); invalid_argument if `raw` has another size; unsupported if this build lacks a codec.
Result<void> decode_array(std::span<const std::byte> encoded, std::span<std::byte> raw);

}  // namespace forebay::codec
