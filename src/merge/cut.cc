#include "merge/cut.h"

#include <algorithm>

namespace forebay::merge {

uint64_t cut_unit(std::span<const uint64_t> block, uint64_t element_bytes, uint64_t frame_bytes) {
  uint64_t unit = element_bytes;
  for (size_t i = block.size(); i-- > 0;) {
    uint64_t larger;
    if (__builtin_mul_overflow(unit, block[i], &larger) || larger > frame_bytes) break;
    unit = larger;
  }
  return unit;
}

namespace {

// Walks the blocks of an interleaved group in merge order: round r takes the r-th block of each stream that has one.
class BlockWalk {
 public:
  BlockWalk(const FrameGroup& group, uint32_t stream, uint64_t offset) : group_(group), offset_(offset) {
    find_active();
    at_ = static_cast<size_t>(std::ranges::lower_bound(active_, stream) - active_.begin());
  }

  bool done() const { return active_.empty(); }
  uint32_t stream() const { return active_[at_]; }
  uint64_t offset() const { return offset_; }
  uint64_t length() const { return std::min(group_.block_bytes, group_.streams[stream()].bytes - offset_); }

  void next() {
    if (++at_ < active_.size()) return;
    offset_ += group_.block_bytes;
    std::erase_if(active_, [&](uint32_t stream) { return group_.streams[stream].bytes <= offset_; });
    at_ = 0;
  }

 private:
  void find_active() {
    for (uint32_t i = 0; i < group_.streams.size(); ++i)
      if (group_.streams[i].bytes > offset_) active_.push_back(i);
  }

  const FrameGroup& group_;
  uint64_t offset_;               // of the round's blocks in their streams
  std::vector<uint32_t> active_;  // the streams that have a block in this round
  size_t at_ = 0;
};

// Collects the frames of one group.
class Cutter {
 public:
  Cutter(uint32_t group, uint64_t frame_bytes, uint64_t max_frames, std::vector<Frame>& frames)
      : group_(group), frame_bytes_(frame_bytes), max_frames_(max_frames), frames_(frames) {}

  bool fits(uint64_t bytes) const { return open_ && bytes <= frame_bytes_ - frames_.back().raw_bytes; }
  void close() { open_ = false; }

  // Puts a slice into the open frame, or into a new one if it does not fit.
  bool put(uint32_t stream, uint64_t offset, uint64_t bytes) {
    if (!fits(bytes)) {
      if (frames_.size() >= max_frames_) return false;
      frames_.push_back({.group = group_, .raw_bytes = 0, .stream = stream, .offset = offset});
      open_ = true;
    }
    frames_.back().raw_bytes += bytes;
    return true;
  }

 private:
  const uint32_t group_;
  const uint64_t frame_bytes_, max_frames_;
  std::vector<Frame>& frames_;
  bool open_ = false;
};

bool cut_concatenated(const FrameGroup& group, uint64_t frame_bytes, std::span<const uint64_t> units, Cutter& cutter) {
  for (uint32_t i = 0; i < group.streams.size(); ++i) {
    const uint64_t bytes = group.streams[i].bytes;
    const uint64_t part = bytes <= frame_bytes ? bytes : frame_bytes / units[i] * units[i];
    if (bytes > frame_bytes) cutter.close();
    for (uint64_t offset = 0; offset < bytes; offset += part)
      if (!cutter.put(i, offset, std::min(part, bytes - offset))) return false;
  }
  return true;
}

}  // namespace

bool cut_group(const FrameGroup& group, uint32_t number, uint64_t frame_bytes, std::span<const uint64_t> units,
               uint64_t max_frames, std::vector<Frame>& frames) {
  Cutter cutter(number, frame_bytes, max_frames, frames);
  if (group.block_bytes == 0) return cut_concatenated(group, frame_bytes, units, cutter);
  for (BlockWalk walk(group, 0, 0); !walk.done(); walk.next())
    if (!cutter.put(walk.stream(), walk.offset(), walk.length())) return false;
  return true;
}

std::vector<Slice> slices_of(const FrameGroup& group, const Frame& frame) {
  std::vector<Slice> slices;
  uint64_t left = frame.raw_bytes;
  if (group.block_bytes == 0) {
    uint64_t offset = frame.offset;
    for (uint32_t i = frame.stream; left != 0; ++i, offset = 0) {
      const uint64_t length = std::min(left, group.streams[i].bytes - offset);
      slices.push_back({group.streams[i], offset, length});
      left -= length;
    }
    return slices;
  }
  for (BlockWalk walk(group, frame.stream, frame.offset); left != 0; walk.next()) {
    const Slice next{group.streams[walk.stream()], walk.offset(), walk.length()};
    left -= next.length;
    Slice* last = slices.empty() ? nullptr : &slices.back();
    if (last && last->stream == next.stream && last->begin + last->length == next.begin) {
      last->length += next.length;
    } else {
      slices.push_back(next);
    }
  }
  return slices;
}

}  // namespace forebay::merge
