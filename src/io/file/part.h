// A process group as bytes: a part of a container (docs/format.md, "A file that grows"), which may lie anywhere in the
// file. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "io/file/listing.h"
#include "io/group/failure.h"
#include "io/group/process_group.h"

namespace forebay::io {

// What tells a part from all others.
struct PartName {
  uint64_t container_id = 0;  // GrowingFile::container_id(), of the file that it will lie in
  uint64_t salt = 0;          // differs between process groups of one rank and step in one file: their count, or where
                              // the file ended when it was opened
};

// Parts are meant to begin at multiples of so many bytes of a file, a cache line. Large payloads then do so, too: the
// system's copy to a place a few bytes behind a multiple of it takes twice as long on some processors.
inline constexpr uint64_t kPartAlignment = 64;

struct PartOptions {
  // How the values are cut: other sizes than this one need hashes of their own. Up to merge::kMaxFrameBytes.
  uint64_t most_frame_bytes = kMostHashedBytes;
  // Otherwise all blocks are stored as they are, and their transforms are only named, for somebody later.
  bool are_transforms_done = true;
};

// Takes pieces that lie one directly behind another from `offset` in a part on. They are borrowed for the call.
using PieceSink = std::function<Result<void>(std::span<const std::span<const std::byte>> pieces, uint64_t offset)>;

// The bytes of a process group. Those of blocks without a transform are the program's own, and borrowed: they must not
// change before the bytes are written.
class EncodedPart {
 public:
  // Hashes and characteristics that are missing in `group` are computed. invalid_argument for a group that makes no
  // sense (a block whose bytes contradict its shape, a place outside of its global array); unknown_transform,
  // transform_failed.
  static Outcome<EncodedPart> make(const ProcessGroup& group, const PartName& name, const PartOptions& options = {});

  // The same bytes, each given to `sink` once, and not kept: there are no pieces(). Values that nobody has looked at go
  // there while they are in the processor's cache, so that they come from memory once. Errors also of the sink, after
  // which what it got is no part.
  static Outcome<EncodedPart> write(const ProcessGroup& group, const PartName& name, const PartOptions& options,
                                    const PieceSink& sink);

  uint64_t bytes() const { return bytes_; }

  // What to write, one piece directly behind another, from where the part is to lie.
  std::span<const std::span<const std::byte>> pieces() const { return pieces_; }

  // One process group, in file 0 at offset 0: shift() it to where it was written.
  const Listing& listing() const { return listing_; }
  Listing& listing() { return listing_; }

 private:
  EncodedPart() = default;
  friend class PartBuilder;
  std::vector<std::unique_ptr<Bytes>> owned_;
  std::vector<std::span<const std::byte>> pieces_;
  uint64_t bytes_ = 0;
  Listing listing_;
};

// The most bytes that a process group takes in which a program has announced so many blocks, with so many bytes of
// values, `dimensions` of all blocks together, and so many of names, transforms, histograms and attributes. Between
// parts there may be gaps of any length, so that a slot need not be filled.
uint64_t part_bound(uint64_t payload_bytes, uint64_t blocks, uint64_t dimensions, uint64_t other_bytes);

// About the bytes of a process group with so many of values and names, on the large side. To be written in several,
// each but the last one with `piece_bytes` of values or more.
uint64_t slot_estimate(uint64_t payload_bytes, uint64_t blocks, uint64_t other_bytes, uint64_t piece_bytes);

}  // namespace forebay::io
