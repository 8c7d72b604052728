// Merging is a plan: which bytes of which files make up each frame. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/catalogue.h"
#include "base/plan_spec.h"
#include "base/shape.h"

namespace forebay::merge {

// A stream is the byte sequence of one variable (its extents in order), of a file's skeleton, or of a whole file.
inline constexpr uint32_t kSkeleton = UINT32_MAX - 1;  // Stream::variable of the skeleton
inline constexpr uint32_t kWholeFile = UINT32_MAX;     // Stream::variable under the agnostic schemes

struct Stream {
  uint32_t file = 0;
  uint32_t variable = 0;  // index into Catalogue::variables, kSkeleton or kWholeFile
  uint64_t bytes = 0;

  bool operator==(const Stream&) const = default;
};

// A range of a stream.
struct Slice {
  Stream stream;
  uint64_t begin = 0, length = 0;
};

// Streams that share frames: a variable group, several small ones of one datatype, the skeletons, or whole files. Small
// groups concatenate only.
struct FrameGroup {
  DataType type;                // of the elements, as the codecs are to see them
  uint64_t block_bytes = 0;     // interleaving unit; 0: the streams are concatenated
  std::vector<Stream> streams;  // in merge order: by key, then rank, then place in the file
  uint64_t bytes = 0;           // the sum of the streams
  uint32_t first_frame = 0, frame_count = 0;
};

// The unit of compression, checksum, transfer and recovery: a stretch of a group's merged byte sequence.
struct Frame {
  uint32_t group = 0;
  uint64_t raw_bytes = 0;
  uint32_t stream = 0;  // where its first slice starts: the place in FrameGroup::streams
  uint64_t offset = 0;  // and the byte in that stream
};

inline constexpr uint64_t kMaxFrames = 1u << 28;
inline constexpr uint64_t kMinFrameBytes = 4 << 10, kMaxFrameBytes = 64 << 20;
inline constexpr uint64_t kMinBlockBytes = 64;

// invalid_argument unless kMinFrameBytes <= frame_bytes <= kMaxFrameBytes, kMinBlockBytes <= every block size <=
// frame_bytes (0 allowed in key_block_bytes), and key_block_bytes has one value for each of `keys` keys, or none.
Result<void> check_spec(const PlanSpec& spec, size_t keys);

// The plan of one rank group. Slices are generated on demand, so that its size is proportional to streams and frames.
class Plan {
 public:
  // Deterministic: the same catalogue and spec give the same plan. `catalogue` must outlive the plan and be valid;
  // invalid_argument if the spec is not (check_spec() below), limit if the plan would have more than `max_frames`
  // frames.
  static Result<Plan> make(const Catalogue& catalogue, const PlanSpec& spec, uint64_t max_frames = kMaxFrames);

  const Catalogue& catalogue() const { return *catalogue_; }
  std::span<const FrameGroup> groups() const { return groups_; }
  std::span<const Frame> frames() const { return frames_; }

  // The slices that make up a frame, in order; their lengths sum up to raw_bytes. No two of them are adjacent parts of
  // one stream.
  std::vector<Slice> slices(const Frame& frame) const;

  // Type and blocks of a frame, from its slices: a slice of whole array blocks or planes keeps its dimensions, any
  // other is seen as one-dimensional. A slice that is not a whole number of elements makes the frame opaque.
  FrameShape shape(const Frame& frame, std::span<const Slice> slices) const;

  // Calls visit(file offset, bytes) for each stretch of the file that a slice covers, in order.
  void for_each_extent(const Slice& slice, const std::function<void(uint64_t offset, uint64_t length)>& visit) const;

  uint64_t memory_bytes() const;  // what the plan itself holds, roughly

 private:
  std::span<const Extent> extents_of(const Stream& stream) const;
  void append_blocks(const Slice& slice, const DataType& type, std::vector<Block>& blocks) const;

  const Catalogue* catalogue_ = nullptr;
  std::vector<FrameGroup> groups_;
  std::vector<Frame> frames_;
  std::vector<std::vector<Extent>> file_extents_;  // per file: the extents of its skeleton stream, or of the whole file
};

}  // namespace forebay::merge
