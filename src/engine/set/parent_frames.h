// Frames that lie in other sets, read back.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/set/frame_io.h"
#include "engine/set/parent_frame.h"
#include "engine/set/set.h"
#include "store/store.h"

namespace forebay::engine {

// The containers of other sets of the store that hold frames of one set. Each is opened when it is needed, and stays
// open until others need its memory. Thread-safe.
class ParentFrames {
 public:
  // `set` is the one whose frames lie in others; `memory_bytes` pays for the indices of the containers that are open
  // at a time, and for some frames that others are predicted from.
  ParentFrames(store::SetFiles set, uint64_t memory_bytes);
  ~ParentFrames();

  // The container that the frame lies in, which stays open for as long as the result is held, and no longer than this.
  // Waits for others to be given back where the memory does not suffice for all: a thread must not hold two. Errors as
  // of open_container(); corrupt, too, if it is another container than was meant, has no such frame, or has itself only
  // a reference in its place.
  Result<std::shared_ptr<const OpenContainer>> find(const ParentFrame& parent);

  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  struct Opened;
  using Key = std::pair<std::string, std::string>;  // the names of set and container

  Result<Opened*> open(const Key& key, std::unique_lock<std::mutex>& lock);
  bool close_unused();
  void give_back(Opened& opened);

  const store::SetFiles set_;
  const uint64_t memory_bytes_;
  const std::shared_ptr<DecodedFrames> decoded_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t left_bytes_;
  std::map<Key, std::unique_ptr<Opened>> opened_;
  std::map<Key, Error> failed_;
};

// What opens the parents of a set: null if it has none. Takes a part of `memory_bytes`, and subtracts it.
std::shared_ptr<ParentFrames> make_parent_frames(const store::SetInfo& set, uint64_t& memory_bytes);

// Whether frame `number` is a reference to another set.
bool is_parent_frame(const OpenContainer& container, uint32_t number);

// What such a frame's recipe names. corrupt, naming container and frame, if it is malformed or the frame has a payload.
Result<ParentFrame> parent_of(const OpenContainer& container, uint32_t number, std::span<const std::byte> recipe,
                              uint64_t payload_bytes);

// Whether frame `number` was predicted from a frame of another set.
bool is_predicted_from_before(const OpenContainer& container, uint32_t number);

// Whether it can be decoded only with another set: either of the two.
bool needs_parent(const OpenContainer& container, uint32_t number);

// What the recipe of a frame that was predicted so says. corrupt, naming container and frame, if it is malformed.
Result<BeforeRecipe> before_of(const OpenContainer& container, uint32_t number, std::span<const std::byte> recipe);

// Calls read() with the container that the frame lies in from which frame `number` was predicted. Errors as of
// in_parent().
Result<void> in_before(const OpenContainer& container, uint32_t number, const ParentFrame& before,
                       const std::function<Result<void>(const OpenContainer& origin)>& read);

// The raw bytes of that frame.
Result<Buffer> read_before(const OpenContainer& container, uint32_t number, const ParentFrame& before);

// Calls read() with the container that such a frame lies in, which has the same bytes as this one had. Errors, also
// those of read(), become errors of the frame, as decode_parent_frame()'s are.
Result<void> in_parent(const OpenContainer& container, uint32_t number, const ParentFrame& parent,
                       const std::function<Result<void>(const OpenContainer& origin)>& read);

// decode_frame() of such a frame. corrupt, naming both frames, if the one that it refers to is missing or damaged: the
// others of this set may be whole.
Result<RawFrame> decode_parent_frame(const OpenContainer& container, const StoredFrame& stored);

// frame_memory() of the frame of another set that frame `number` is, or was predicted from. Reads its recipe.
uint64_t parent_frame_memory(const OpenContainer& container, uint32_t number);

// Adds what the frames of `container` take of other sets to `parents`, which is in the order of the names. Created_ns
// of new entries is left 0. Frames that cannot be read are passed over.
void add_parents_of(const OpenContainer& container, std::vector<store::ParentEntry>& parents);

// Adds `frames` and `raw_bytes` to the entry of the set `name`.
void add_parent(std::vector<store::ParentEntry>& parents, const std::string& name, uint64_t frames, uint64_t raw_bytes);

// The sets that a set without a readable manifest refers to, from the containers that are there. Damaged ones tell
// nothing; an error (permission, limit, unsupported) if one may be whole and cannot be looked into.
Result<std::vector<store::ParentEntry>> parents_of(const store::SetInfo& set, uint64_t memory_bytes);

}  // namespace forebay::engine
