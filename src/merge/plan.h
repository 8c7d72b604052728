// Merging is a plan: which bytes of which files make up each frame (design section 3.2). Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/directory.h"
#include "base/plan_spec.h"
#include "base/shape.h"

namespace forebay::merge {

// A stream is the byte sequence of one variable (its extents in order), of a file's skeleton, or of a whole file.
inline constexpr uint32_t kSkeleton = UINT32_MAX - 1;   // Stream::variable of the skeleton
inline constexpr uint32_t kWholeFile = UINT32_MAX;      // Stream::variable under the agnostic schemes

struct Stream {
  uint32_t file = 0;
  uint32_t variable = 0;  // index into Directory::variables, kSkeleton or kWholeFile
  uint64_t bytes = 0;
};

// A range of a stream.
struct Slice {
  Stream stream;
  uint64_t begin = 0, length = 0;
};

// Streams that share frames: a variable group, several small ones of one datatype, the skeletons, or whole files.
struct FrameGroup {
  DataType type;                 // of the elements, as the codecs are to see them
  uint64_t block_bytes = 0;      // interleaving unit; 0: the streams are concatenated
  std::vector<Stream> streams;   // in merge order: by key, then rank, then place in the file
  uint64_t bytes = 0;            // the sum of the streams
  uint32_t first_frame = 0, frame_count = 0;
};

struct Frame {
  uint32_t group = 0;
  uint64_t begin = 0;   // position in the group's merged byte sequence
  uint64_t raw_bytes = 0;
  uint32_t stream = 0;  // where to start generating slices: the stream and, for block schemes, the round
  uint64_t round = 0;   // concatenated: the offset in the stream
};

// The plan of one rank group. Slices are generated on demand, so that its size is proportional to streams and frames.
class Plan {
 public:
  // Deterministic: the same directory and spec give the same plan. `directory` must outlive the plan and be valid;
  // invalid_argument if the spec is not (a zero block or frame size, key_block_bytes of the wrong length).
  static Result<Plan> make(const Directory& directory, const PlanSpec& spec);

  const Directory& directory() const { return *directory_; }
  std::span<const FrameGroup> groups() const { return groups_; }
  std::span<const Frame> frames() const { return frames_; }

  // The slices that make up a frame, in order; their lengths sum up to raw_bytes.
  std::vector<Slice> slices(const Frame& frame) const;

  // Type and blocks of a frame, from its slices. A slice that is not a whole number of elements makes the frame opaque.
  FrameShape shape(const Frame& frame, std::span<const Slice> slices) const;

  // Calls visit(file offset, bytes) for each stretch of the file that a slice covers, in order.
  void for_each_extent(const Slice& slice, const std::function<void(uint64_t offset, uint64_t length)>& visit) const;

  uint64_t memory_bytes() const;  // what the plan itself holds, roughly

 private:
  const Directory* directory_ = nullptr;
  std::vector<FrameGroup> groups_;
  std::vector<Frame> frames_;
  std::vector<std::vector<Extent>> skeletons_;  // per file
};

}  // namespace forebay::merge
