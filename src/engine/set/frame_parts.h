// Frames read in parts: the entries of those that have entries, others as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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
  std::optional<ParentFrame> before;       // it was predicted from that frame of another set, beside others
  // The memory that a frame takes that this one is predicted from, while it is decoded: as a whole, or beside its bytes
  // for one of its parts.
  struct Reference {
    bool has_parts = false;
    uint64_t decoding = 0;
  };
  std::vector<Reference> references;

  size_t count() const { return cuts.empty() ? 1 : cuts.size(); }
  uint64_t begin_of(size_t part) const { return cuts.empty() ? 0 : cuts[part].begin; }
  uint64_t bytes_of(size_t part) const { return cuts.empty() ? raw_bytes : cuts[part].bytes(); }

  // The part that has the byte at `offset` of the frame, which has more bytes.
  size_t at(uint64_t offset) const;

  // Copies a range of the frame's bytes out of the parts that it lies in.
  void copy(uint64_t begin, uint64_t bytes, const std::function<std::span<const std::byte>(size_t part)>& raw,
            std::span<std::byte> out) const;

  uint64_t memory_bytes() const;  // what this holds, roughly
};

// Reads what is needed of frame `number`. corrupt, naming container and frame.
Result<FrameParts> find_parts(const OpenContainer& container, uint32_t number);

// Gives `bytes` raw bytes, from `begin` on, of frame `number` of the same container, which has them and from which
// others are predicted. Errors as of read_parts().
using ReadReference =
    std::function<Result<std::shared_ptr<const Buffer>>(uint32_t number, uint64_t begin, uint64_t bytes)>;

// Reads and decodes `count` parts from `first` on, each checked against its checksum. corrupt, naming container and
// frame, also if a frame that it is predicted from, or the set that it lies in, is damaged. `read_reference` is called
// for frames that this set has itself; without one they are decoded for this call alone.
Result<std::vector<Buffer>> read_parts(const OpenContainer& container, uint32_t number, const FrameParts& parts,
                                       size_t first, size_t count, const ReadReference& read_reference = {});

// The bytes of the container that read_parts() reads, without those of other frames.
uint64_t stored_bytes(const OpenContainer& container, uint32_t number, const FrameParts& parts, size_t first,
                      size_t count);

// The most memory that read_parts() takes, its result included.
uint64_t parts_memory(const OpenContainer& container, uint32_t number, const FrameParts& parts, size_t first,
                      size_t count);

}  // namespace forebay::engine
