// Frames read in parts: the entries of those that have entries, others as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/buffer.h"
#include "codec/entries/entries.h"
#include "engine/set/parent_frame.h"
#include "engine/set/set.h"
#include "merge/plan.h"

namespace forebay::engine {

// What parts a frame has, known without its payload.
struct FrameParts {
  std::vector<merge::Slice> slices;        // of the frame, in order
  std::vector<codec::EntryCut> cuts;       // the parts, in the order of their bytes; empty: the frame is one part
  std::optional<codec::EntryTable> table;  // of the cuts
  uint64_t payload_offset = 0;             // in its container
  uint64_t raw_bytes = 0;                  // of the frame
  std::optional<ParentFrame> parent;       // it lies in that place of another set

  size_t count() const { return cuts.empty() ? 1 : cuts.size(); }
  uint64_t begin_of(size_t part) const { return cuts.empty() ? 0 : cuts[part].begin; }
  uint64_t bytes_of(size_t part) const { return cuts.empty() ? raw_bytes : cuts[part].bytes(); }

  // The part that has the byte at `offset` of the frame, which has more bytes.
  size_t at(uint64_t offset) const;

  uint64_t memory_bytes() const;  // what this holds, roughly
};

// Reads what is needed of frame `number`. corrupt, naming container and frame.
Result<FrameParts> find_parts(const OpenContainer& container, uint32_t number);

// Reads and decodes `count` parts from `first` on, each checked against its checksum. corrupt, naming container and
// frame, also if a frame that it is predicted from, or the set that it lies in, is damaged.
Result<std::vector<Buffer>> read_parts(const OpenContainer& container, uint32_t number, const FrameParts& parts,
                                       size_t first, size_t count);

// The bytes of the container that read_parts() reads, without those of other frames.
uint64_t stored_bytes(const OpenContainer& container, uint32_t number, const FrameParts& parts, size_t first,
                      size_t count);

// The most memory that read_parts() takes, its result included.
uint64_t parts_memory(const OpenContainer& container, uint32_t number, const FrameParts& parts, size_t first,
                      size_t count);

}  // namespace forebay::engine
