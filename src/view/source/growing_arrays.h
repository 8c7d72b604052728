// The arrays of a step of a file that grows, from the file's list of process groups. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "io/file/listing.h"
#include "view/model/array.h"

namespace forebay::view {

// A write of a process group: Listing::parts[part], and which of its pattern's writes.
struct WriteOf {
  uint64_t part = 0;
  uint32_t write = 0;
};

// As StoredPart::array has it. Lists never have as many process groups as would make that too large.
inline uint64_t number_of(const WriteOf& write) { return write.part << 32 | write.write; }
inline WriteOf write_of(uint64_t number) { return {number >> 32, static_cast<uint32_t>(number)}; }

struct GrowingArrays {
  std::vector<Array> arrays;        // by name
  std::vector<uint32_t> variables;  // of each: in Listing::variables
};

// Where a block lies that the list says nothing of.
struct BlockPlace {
  Shape shape, global_shape, offsets;  // as Place
};
using LookUp = std::function<Result<BlockPlace>(const WriteOf&)>;

// Where the writes of each variable are in the patterns of a list. Made once for all steps; thread-safe.
class PatternWrites {
 public:
  explicit PatternWrites(const io::Listing& listing);

  // The writes of a variable in a pattern, in their order.
  struct Write {
    uint32_t variable = 0, write = 0, slot = 0;
    uint64_t place = 0;  // where its place begins behind ListedPart::first_place, unless it is unlisted
  };
  std::span<const Write> of(uint32_t pattern, uint32_t variable) const;

  // Whether the process groups of the pattern say where a block lies, and the list does not.
  bool has_unlisted(uint32_t pattern) const { return has_unlisted_[pattern]; }

 private:
  std::vector<std::vector<Write>> writes_;  // of each pattern: by variable, then in their order
  std::vector<bool> has_unlisted_;
};

// Whether two steps have the same arrays, as Run::first_alike() has it, as far as the list alone tells.
bool are_alike(const io::Listing& listing, const PatternWrites& writes, uint64_t step, uint64_t other);

// The process groups of a step in Listing::parts: from `begin`, without `end`.
std::pair<size_t, size_t> parts_of(const io::Listing& listing, uint64_t step);

// `look_up` is asked once at most for each array. Its errors.
Result<GrowingArrays> growing_arrays(const io::Listing& listing, uint64_t step, const LookUp& look_up);

// The blocks of an array that growing_arrays() made of `variable`, in the order in which they were written; `writes`
// are the listing's. Errors of `look_up`; corrupt if the blocks are none of such an array.
Result<std::vector<Block>> growing_blocks(const io::Listing& listing, const PatternWrites& writes, uint64_t step,
                                          uint32_t variable, const Array& array, const LookUp& look_up);

// What holds in a step: of each name the value that was written last, by name.
std::vector<Attribute> growing_attributes(const io::Listing& listing, uint64_t step);

}  // namespace forebay::view
