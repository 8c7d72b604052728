// A file as a skeleton and variables: what a format reader returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/datatype.h"
#include "base/error.h"
#include "base/shape.h"

namespace forebay {

// A byte range of a file.
struct Extent {
  uint64_t offset = 0;
  uint64_t length = 0;

  uint64_t end() const { return offset + length; }
  auto operator<=>(const Extent&) const = default;
};

// A named array whose bytes lie in `extents`, in array order.
//   contiguous:  one extent, `block` empty; extent bytes = element_count(shape) * type.size
//   blocked:     (HDF5 chunks, netCDF records) `block` has the rank of `shape`; the extents are blocks of that shape,
//   in
//                C order of the block grid; blocks at the far edge are stored whole. If there are fewer extents than
//                the grid has cells, the variable is `partial`: some blocks have no storage, and which is not recorded.
//   filtered:    the extents hold encoded bytes (HDF5 filters) and may have any length.
struct Variable {
  std::string path;  // "/Group/name": groups, then the name; always starts with '/'
  DataType type;
  Shape shape;
  Shape block;
  std::vector<Extent> extents;
  bool filtered = false;
  bool partial = false;
  // If the variable is part of a global array that several ranks write: that array's shape, and where in it the first
  // element lies. Both have the rank of `shape`, one at least; offset plus shape is inside. Empty if it is not.
  Shape global_shape = {};
  Shape global_offset = {};
  // What its values mean where that is not what they are: to_text() of a Meaning (base/meaning.h), or empty.
  std::string meaning = {};
};

// Everything that a format reader found. The bytes that belong to no variable are the skeleton.
struct Layout {
  std::string format;  // the reader's name, such as "hdf5"; "raw" of what a description says; or "opaque"
  std::vector<Variable> variables;
};

// Bounds on what one file may declare: beyond them a file is opaque.
inline constexpr uint64_t kMaxVariablesPerFile = 1u << 20;
inline constexpr uint64_t kMaxExtentsPerFile = 1u << 22;
inline constexpr uint64_t kMaxPathBytes = 4096;
inline constexpr uint64_t kMaxDims = 32;

// Checks `layout` against a file of `file_size` bytes and removes what cannot be used: variables without extents, with
// an invalid type, with extents outside the file, of a length that contradicts the shape, or overlapping a variable
// that was kept before (in order of `variables`). Afterwards all extents of all variables are disjoint, non-empty and
// inside the file. Returns how many variables with extents were dropped. A layout beyond the bounds above becomes
// opaque.
size_t normalise(Layout& layout, uint64_t file_size);

}  // namespace forebay
