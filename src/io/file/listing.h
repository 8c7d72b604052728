// What process groups a file has: the values that go up the tree of ranks at a close, that a file's lists of process
// groups store, and that readers see. A listing of one process group, of one step and of a whole file are the same
// kind of value, and any two can be merged.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/shape.h"
#include "container/characteristics.h"
#include "io/group/process_group.h"
#include "io/group/value_type.h"

namespace forebay::io {

struct ListedGroup {
  std::string name, time_index_name;
  bool fortran_order = false;

  auto operator<=>(const ListedGroup&) const = default;
};

// What a name means. A name that was written with two types, or both as an array and not, is two variables.
struct ListedVariable {
  uint32_t group = 0;  // index into Listing::groups
  std::string name;    // full
  ValueType type = ValueType::int8;
  bool is_array = false;
  std::string transform;  // as declared at the first write; empty for none

  bool is_same(const ListedVariable& other) const {
    return group == other.group && name == other.name && type == other.type && is_array == other.is_array;
  }
};

// What is the same in the process groups of many ranks: which variables they wrote, and which of these have their
// blocks in the same place.
struct Pattern {
  static constexpr uint32_t kUnlisted = UINT32_MAX;  // where the block lies is said by the process group only

  // Of a place that each process group with this pattern has.
  struct Slot {
    uint8_t rank = 0;        // dimensions
    bool is_global = false;  // whether global shape and offsets are there, too
    auto operator<=>(const Slot&) const = default;
    uint64_t numbers() const { return uint64_t{rank} * (is_global ? 3 : 1); }
  };
  struct Write {
    uint32_t variable = 0;  // index into Listing::variables
    uint32_t slot = 0;      // index into slots, or kUnlisted
    auto operator<=>(const Write&) const = default;
  };
  uint32_t group = 0;  // index into Listing::groups
  std::vector<Slot> slots;
  std::vector<Write> writes;  // one for each block, in order of writing

  auto operator<=>(const Pattern&) const = default;
  uint64_t numbers() const;  // of all slots together
};

// Where a block lies in its global array: all empty for a scalar, the latter two for a local array.
struct Place {
  std::span<const uint64_t> shape, global_shape, offsets;
};

// A process group: a part of a container.
struct ListedPart {
  uint32_t pattern = 0;  // index into Listing::patterns
  uint32_t rank = 0;
  uint64_t step = 0;
  uint32_t time_index = 0;
  uint32_t file = 0;         // index into Listing::files
  uint64_t offset = 0;       // of its head in that file
  uint64_t bytes = 0;        // from its head to the end of its index record
  uint64_t index_bytes = 0;  // of that record, with which it ends
  uint64_t index_hash = 0;   // the hash that ends that record's header
  uint64_t first_place = 0;  // index into Listing::places: of slot after slot, shape, then global shape and offsets

  auto operator<=>(const ListedPart&) const = default;
};

// All blocks of a variable in a step together.
struct StepCharacteristics {
  uint64_t step = 0;
  uint32_t variable = 0;  // index into Listing::variables
  uint64_t blocks = 0;
  container::Characteristics values;
};

struct ListedAttribute {
  uint32_t group = 0;  // index into Listing::groups
  uint64_t step = 0;   // from which it has this value
  AttributeValue value;
};

// A file in which parts lie.
struct ListedFile {
  std::string name;           // relative to the directory of the file that lists it; empty for that file itself
  uint64_t container_id = 0;  // what its parts say of their container

  auto operator<=>(const ListedFile&) const = default;
};

// Rows in no particular order unless said otherwise. Not thread-safe.
struct Listing {
  std::vector<ListedFile> files;
  std::vector<ListedGroup> groups;
  std::vector<ListedVariable> variables;  // in the order in which they were first written
  std::vector<Pattern> patterns;
  std::vector<ListedPart> parts;                     // in the order of steps; within a step as they were merged
  std::vector<uint64_t> places;                      // what first_place refers to
  std::vector<StepCharacteristics> characteristics;  // by step, then variable
  std::vector<ListedAttribute>
      attributes;  // by group and name, then step; only where the value differs from the one before

  // Takes in `other`, whose process groups come behind those of the same step that are here. Of attributes that differ
  // within a step, the value that is here stays. A listing that passes `most_numbers` in patterns and places together
  // forgets the places, so that its memory stays bounded however different the ranks are.
  static constexpr uint64_t kMostNumbers = 16 << 20;
  void merge(Listing other, uint64_t most_numbers = kMostNumbers);

  // Says that the process groups in the file itself lie `offset` bytes further on.
  void shift(uint64_t offset);

  // Says that the process groups in the file itself lie in `name` instead, beside or below the file that will list
  // them.
  void rename(const std::string& name);

  // `slot` is not kUnlisted.
  Place place(const ListedPart& part, uint32_t slot) const;

  // Forgets where blocks lie; their process groups know it.
  void forget_places();

  // Bytes of memory, roughly.
  uint64_t memory_bytes() const;

  // Whether all indices, names and places are possible: corrupt if not.
  Result<void> validate() const;
};

// As bytes (docs/format.md, "List of process groups"). limit if it is too large for a FlatBuffer.
Result<Bytes> encode(const Listing& listing);

// The inverse. The bytes are hostile: corrupt if they are malformed or not valid(); limit if they take more than
// `max_bytes` of memory.
Result<Listing> decode_listing(std::span<const std::byte> bytes, uint64_t max_bytes);

}  // namespace forebay::io
