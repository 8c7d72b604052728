// Decoded frames that others are predicted from, kept for a while.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/buffer.h"
#include "engine/set.h"

namespace forebay::engine {

// The latest of a container's frames that were asked for, as many as fit into some memory. Thread-safe.
class DecodedFrames {
 public:
  using Bytes = std::shared_ptr<const Buffer>;

  explicit DecodedFrames(uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  // The raw bytes of frame `number` of `container`, which must always be the same one. Errors as of read_frame().
  Result<Bytes> get(const OpenContainer& container, uint32_t number);

  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  struct Kept {
    uint32_t number;
    Bytes bytes;
  };

  Bytes find(uint32_t number);
  void keep(uint32_t number, const Bytes& bytes);

  const uint64_t memory_bytes_;
  std::mutex mutex_;
  uint64_t kept_bytes_ = 0;
  std::list<Kept> kept_;  // most recently used last
  std::unordered_map<uint32_t, std::list<Kept>::iterator> by_number_;
};

// For a container whose frames refer to others: room for some references, a part of `memory_bytes`. Null for other
// containers.
std::shared_ptr<DecodedFrames> make_decoded_frames(const OpenContainer& container, uint64_t memory_bytes);

// The frames that frame `number` is predicted from, decoded. corrupt, naming both, if one of them is damaged, or refers
// to others itself.
Result<std::vector<DecodedFrames::Bytes>> decode_references(const OpenContainer& container, uint32_t number);

// The most memory that decode_references() takes beside what DecodedFrames keeps.
uint64_t reference_memory(const OpenContainer& container, uint32_t number);

// `numbers` (ascending) in an order in which frames that refer to others come soon after these.
std::vector<uint32_t> near_references(const OpenContainer& container, std::vector<uint32_t> numbers);

}  // namespace forebay::engine
