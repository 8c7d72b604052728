// Random access to the bytes of an open set, reading only the frames that hold them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/lru.h"
#include "engine/set/box_plan.h"
#include "engine/set/frame_io.h"
#include "engine/set/set.h"
#include "engine/set/stream_frames.h"

namespace forebay::engine {

// Keeps the frames that were used last, as far as the memory allows. Not thread-safe.
class SetReader {
 public:
  // `set` must outlive this. `memory_bytes` pays for frames alone.
  SetReader(const OpenSet& set, uint64_t memory_bytes);

  const OpenSet& set() const { return set_; }

  // From now on frames may take `bytes`; what is kept beyond that is let go.
  void set_memory(uint64_t bytes);

  // Fills `out` with the stored bytes of a variable from `begin` on: its extents, one after another. corrupt, naming
  // container and frame, if one of the frames is damaged; limit if one does not fit into the memory.
  Result<void> read_variable(size_t container, uint32_t file, uint32_t variable, uint64_t begin,
                             std::span<std::byte> out);

  // Fills `out`, of plan.bytes() bytes, with a box of a variable in C order. `plan` is of a variable of that container
  // (plan_box()). Reads the frames that it needs, each once, one after another, and keeps none of which all bytes were
  // in the box. Errors as above.
  Result<void> read_box(size_t container, const BoxPlan& plan, std::span<std::byte> out);

  // BoxPlan::make() for a variable of a container. Errors as of it, with the container's path.
  Result<BoxPlan> plan_box(size_t container, uint32_t file, uint32_t variable, const Box& box);

  // As read_variable(), with the bytes of a whole file.
  Result<void> read_file(size_t container, uint32_t file, uint64_t begin, std::span<std::byte> out);

  uint64_t frames_read() const { return frames_read_; }
  uint64_t kept_bytes() const { return cached_.cost(); }

 private:
  // A range of a stream in a frame.
  struct Held {
    merge::Slice slice;
    size_t at = 0;  // in the frame
  };
  struct CachedFrame {
    RawFrame frame;
    std::vector<Held> held;  // by file, variable and begin
  };

  const StreamFrames& locator(size_t container);
  Result<void> check_copied(size_t container, uint64_t copied, uint64_t wanted) const;
  Result<void> read_parts(size_t container, std::span<const StreamPart> parts, std::span<std::byte> out);
  Result<const CachedFrame*> frame(size_t container, uint32_t number);

  const OpenSet& set_;
  uint64_t memory_bytes_;
  uint64_t frames_read_ = 0;
  std::vector<std::optional<StreamFrames>> locators_;     // per container, made when first needed
  Lru<std::pair<size_t, uint32_t>, CachedFrame> cached_;  // by the memory that they take
};

}  // namespace forebay::engine
