// Frames that lie in other sets, read back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/set/base_frame.h"
#include "engine/set/frame_io.h"
#include "engine/set/set.h"
#include "store/store.h"

namespace forebay::engine {

// The containers of other sets of the store that hold frames of one set. Each is opened when it is first needed, and
// stays open. Thread-safe.
class BaseFrames {
 public:
  // `sets_directory` is where the store's sets are; `memory_bytes` pays for the indices of all containers together, and
  // for some frames that others are predicted from.
  BaseFrames(std::string sets_directory, uint64_t memory_bytes);

  // What the frame's container is, valid as long as this. Errors as of open_container(); corrupt, too, if it is another
  // container than was meant, has no such frame, or has itself only a reference in its place.
  Result<const OpenContainer*> find(const BaseFrame& base);

  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  const Result<OpenContainer>& open(const BaseFrame& base);

  const std::string sets_directory_;
  const uint64_t memory_bytes_;
  std::mutex mutex_;
  const std::shared_ptr<DecodedFrames> decoded_;
  uint64_t left_bytes_;
  std::map<std::pair<std::string, std::string>, Result<OpenContainer>> opened_;  // by the names of set and container
};

// What opens the bases of a set: null if it has none. Takes a part of `memory_bytes`, and subtracts it.
std::shared_ptr<BaseFrames> make_base_frames(const store::SetInfo& set, uint64_t& memory_bytes);

// Whether frame `number` is a reference to another set.
bool is_base_frame(const OpenContainer& container, uint32_t number);

// decode_frame() of such a frame. corrupt, naming both frames, if the one that it refers to is missing or damaged: the
// others of this set may be whole.
Result<RawFrame> decode_base_frame(const OpenContainer& container, const StoredFrame& stored);

// frame_memory() of such a frame. Reads its recipe.
uint64_t base_frame_memory(const OpenContainer& container, uint32_t number);

// Adds what the frames of `container` take of other sets to `bases`, which is in the order of the names. Created_ns of
// new entries is left 0. Frames that cannot be read are passed over.
void add_bases_of(const OpenContainer& container, std::vector<store::BaseEntry>& bases);

// Adds `frames` and `raw_bytes` to the entry of the set `name`.
void add_base(std::vector<store::BaseEntry>& bases, const std::string& name, uint64_t frames, uint64_t raw_bytes);

// The sets that a set without a readable manifest refers to, from the containers that are there. Damaged ones tell
// nothing; an error (permission, limit, unsupported) if one may be whole and cannot be looked into.
Result<std::vector<store::BaseEntry>> bases_of(const store::SetInfo& set, uint64_t memory_bytes);

}  // namespace forebay::engine
