// Which frames of a plan hold a part of a stream: the plan read backwards. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "merge/plan.h"

namespace forebay::engine {

// A range of a stream, and where its bytes go in what is being assembled.
struct StreamPart {
  merge::Stream stream;
  uint64_t begin = 0, length = 0;
  uint64_t target = 0;
};

// The parts of streams that make up [begin, begin + length) of a variable's stored bytes: one of its own stream or,
// under the agnostic schemes, one of the file per extent. `target` counts from `begin`.
std::vector<StreamPart> parts_of_variable(const merge::Plan& plan, uint32_t file, uint32_t variable, uint64_t begin,
                                          uint64_t length);

// Which streams the bytes of a file are in. Takes as long to make as its extents take to be sorted; a range is then
// found by a search. Thread-safe after construction.
class FileParts {
 public:
  FileParts(const merge::Plan& plan, uint32_t file);

  // The parts of streams that make up [begin, begin + length) of the file, in the order of the file. `target` counts
  // from `begin`.
  std::vector<StreamPart> within(uint64_t begin, uint64_t length) const;

  uint64_t memory_bytes() const { return runs_.capacity() * sizeof(Run); }

 private:
  struct Run {
    uint64_t begin = 0, end = 0;  // of the file
    merge::Stream stream;
    uint64_t at = 0;  // in the stream
  };
  std::vector<Run> runs_;  // in the order of the file; none overlap
};

// Thread-safe after construction.
class StreamFrames {
 public:
  // `plan` must outlive this.
  explicit StreamFrames(const merge::Plan& plan);

  const merge::Plan& plan() const { return plan_; }

  // The frame that holds the byte `offset` of a stream, and the end, in the stream, of the unbroken range that it holds
  // there. Nothing if the stream has no such byte, or the plan no such stream. Of `stream`, its size does not count.
  struct Held {
    uint32_t frame = 0;
    uint64_t end = 0;
  };
  std::optional<Held> at(const merge::Stream& stream, uint64_t offset) const;

  // The numbers of the frames that hold any byte of `part`, rising. Empty if the plan has no such stream.
  std::vector<uint32_t> holding(const StreamPart& part) const;

 private:
  struct Place {
    uint32_t file, variable;
    uint32_t group, stream;  // in Plan::groups() and FrameGroup::streams
  };
  const Place* find(const merge::Stream& stream) const;

  const merge::Plan& plan_;
  std::vector<Place> places_;  // by file, then variable
};

}  // namespace forebay::engine
