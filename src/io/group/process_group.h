// What one rank wrote into one file between open and close: a process group, as the paper on ADIOS calls it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/shape.h"
#include "container/characteristics.h"
#include "io/group/value_type.h"

namespace forebay::io {

// How the values of a block that is not transformed are cut into frames, each with a checksum: into pieces of so many
// bytes (the last may be shorter), which are whole rows or planes where these are not larger than kMostHashedBytes; all
// of them if they are not more than that.
inline constexpr uint64_t kMostHashedBytes = uint64_t{512} << 10;
uint64_t hashed_bytes(ValueType type, const Shape& shape);

// One write of one variable.
struct Block {
  std::string name;  // full
  ValueType type = ValueType::int8;
  bool is_array = false;           // else a scalar or a string, whose shape is empty
  Shape shape;                     // of what lies in `bytes`, in C order, time left out
  Shape global_shape, offsets;     // C order; empty for local arrays
  std::optional<uint32_t> joined;  // the dimension along which ranks' blocks are joined; its global size and offset are
                                   // still to be found when the file is closed
  std::string transform;           // as declared; empty for none
  std::span<const std::byte> bytes;            // the values, native byte order; borrowed
  container::Characteristics characteristics;  // of numbers; parts of complex numbers are not looked at
  bool is_characterised = true;                // otherwise by whoever writes the values
  std::vector<uint64_t> hashes;     // hash64 of each hashed_bytes() of `bytes` (the last may be shorter), from whoever
                                    // copied them; empty if still to be computed
  std::vector<uint64_t> histogram;  // of the classes of `breaks`, or empty
  std::vector<double> breaks;
};

// Whether it is part of a global array and lies inside of it.
bool has_place(const Block& block);

struct AttributeValue {
  std::string name;  // full
  ValueType type = ValueType::string;
  uint64_t count = 1;
  Bytes value;           // as AttributeDefinition::value
  std::string variable;  // not empty: refers to this variable, and has no value of its own
};

struct ProcessGroup {
  std::string group;
  std::string time_index_name;  // or empty
  bool fortran_order = false;   // of the program that wrote it; everything here is in C order all the same
  uint32_t rank = 0;
  uint64_t step = 0;          // the step in the file that it belongs to, from 0
  uint32_t time_index = 1;    // as ADIOS counts: from 1, over all files of a group
  std::vector<Block> blocks;  // in order of writing
  std::vector<AttributeValue> attributes;
};

}  // namespace forebay::io
