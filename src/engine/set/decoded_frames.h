// Decoded frames that others are predicted from, kept for a while.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/lru.h"
#include "engine/set/set.h"

namespace forebay::engine {

// The latest frames of some containers that were asked for, as many as fit into some memory. Thread-safe.
class DecodedFrames {
 public:
  using Bytes = std::shared_ptr<const Buffer>;

  explicit DecodedFrames(uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  // The raw bytes of frame `number` of `container`, which must outlive this. Errors as of read_frame().
  Result<Bytes> get(const OpenContainer& container, uint32_t number);

  // Lets go of what is kept of a container that is about to be closed.
  void forget(const OpenContainer& container);

  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  using Key = std::pair<const container::Reader*, uint32_t>;

  Bytes find(const Key& key);
  void keep(const Key& key, const Bytes& bytes);

  const uint64_t memory_bytes_;
  std::mutex mutex_;
  Lru<Key, Bytes> kept_;  // by their bytes
};

// Whether frames of a container refer to others.
bool has_references(const OpenContainer& container);

// Gives those containers whose frames refer to others room for some references: one for all of them, a part of
// `memory_bytes`. Null if there is no such container.
std::shared_ptr<DecodedFrames> share_decoded_frames(std::span<OpenContainer> containers, uint64_t memory_bytes);

// corrupt if frame `number` may not be predicted from frame `reference`: there are too many, or that one refers to
// others itself.
Result<void> check_reference(const OpenContainer& container, uint32_t number, uint32_t reference);

// An error that came up with a frame that frame `number` is predicted from.
std::unexpected<Error> blamed_on_reference(uint32_t number, Error error);

// The frames that frame `number` is predicted from, decoded. corrupt, naming both, if one of them is damaged, or refers
// to others itself.
Result<std::vector<DecodedFrames::Bytes>> decode_references(const OpenContainer& container, uint32_t number);

// The most memory that decode_references() takes beside what DecodedFrames keeps.
struct ReferenceMemory {
  uint64_t kept = 0;      // for its result
  uint64_t decoding = 0;  // and until it returns
};
ReferenceMemory reference_memory(const OpenContainer& container, uint32_t number);

// `numbers` (ascending) in an order in which frames that refer to others come soon after these.
std::vector<uint32_t> near_references(const OpenContainer& container, std::vector<uint32_t> numbers);

}  // namespace forebay::engine
