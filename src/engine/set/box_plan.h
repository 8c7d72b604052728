// Reading a box of a variable, planned: which frames are needed, and which of their bytes go where in the box. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/set/box_layout.h"
#include "engine/set/stream_frames.h"
#include "merge/plan.h"

namespace forebay::engine {

// Thread-safe. Takes little memory, however finely the box is scattered: the pieces of a frame are found when they are
// asked for.
class BoxPlan {
 public:
  // `box` is one of variable `variable` of file `file`, whose extents are its blocks as they are, without filters and
  // without gaps; `frames` is of the plan of its container and needs not outlive this. Errors as of BoxLayout::make();
  // unsupported if the variable is filtered or partial; corrupt if its blocks do not cover its shape. They name
  // variable and file.
  static Result<BoxPlan> make(const StreamFrames& frames, uint32_t file, uint32_t variable, const Box& box);

  // The same of an array that is a stretch of the variable's elements, from `first` on, which has no blocks: `box` is
  // one of an array of `shape`. invalid_argument, too, if that does not lie inside of the variable.
  static Result<BoxPlan> make_flat(const StreamFrames& frames, uint32_t file, uint32_t variable, uint64_t first,
                                   const Shape& shape, const Box& box);

  // The numbers of the frames that hold any byte of the box, rising.
  std::span<const uint32_t> frames() const { return frames_; }

  // The bytes of the box, and of the array that it becomes.
  uint64_t bytes() const { return layout_.bytes(); }

  // Calls visit for each piece of the box in a frame of these slices: where it lies in the frame, where in the box, and
  // how long it is.
  using Visit = std::function<void(uint64_t from, uint64_t to, uint64_t length)>;
  void for_each_piece(std::span<const merge::Slice> slices, const Visit& visit) const;

 private:
  // A range of the stored bytes that lies unbroken in the stream.
  struct Part {
    uint64_t begin = 0, length = 0;  // in the stream
    uint64_t stored = 0;
  };

  explicit BoxPlan(BoxLayout layout) : layout_(std::move(layout)) {}
  static BoxPlan make(const StreamFrames& frames, uint32_t file, uint32_t variable, uint64_t begin, BoxLayout layout);
  void find_frames(const StreamFrames& frames);

  BoxLayout layout_;
  merge::Stream stream_;
  std::vector<Part> parts_;  // those that hold a part of the box, by their places in the stream
  std::vector<uint32_t> frames_;
};

}  // namespace forebay::engine
