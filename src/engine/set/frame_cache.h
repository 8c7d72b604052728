// Decoded frames of any number of open sets, kept as long as a memory limit allows: one for a process, shared by all
// that read at random. Of frames with entries only those are decoded that are asked for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/lru.h"
#include "engine/set/frame_parts.h"

namespace forebay::engine {

// Thread-safe.
class FrameCache {
 public:
  using Parts = std::shared_ptr<const FrameParts>;

  // `memory_bytes` pays for what is kept, and for what is being decoded; what callers hold beyond that is theirs. Of
  // frames with entries at most `most_entry_bytes` are kept: where all is read once, others would only cost memory that
  // is touched for the first time.
  explicit FrameCache(uint64_t memory_bytes, uint64_t most_entry_bytes = UINT64_MAX)
      : all_bytes_(memory_bytes), most_entry_bytes_(most_entry_bytes), memory_bytes_(memory_bytes) {}

  // A number for a container that is going to be read, so that its frames are told from those of others.
  uint64_t new_source();

  // A frame of the container that was given the number `source`.
  struct Address {
    uint64_t source = 0;
    const OpenContainer& container;
    uint32_t number = 0;
  };

  // What parts the frame has. Errors as of find_parts().
  Result<Parts> parts(const Address& frame);

  // The bytes of those parts of a frame that were wanted: decoded and checked, or what is wrong with them.
  struct Frame {
    std::vector<std::shared_ptr<const Buffer>> raw;  // by part; null if it was not wanted, or cannot be had
    std::map<size_t, Error> failed;                  // by part
    uint64_t read_bytes = 0, decoded_bytes = 0;      // by this call: stored and raw ones
  };

  // The parts i of a frame for which wanted[i]. Who asks for parts that are being decoded waits for these.
  // Errors of parts as of read_parts(); of all, limit if they do not fit into the memory.
  Result<Frame> get(const Address& frame, const Parts& parts, const std::vector<bool>& wanted);

  // Lets go of what is kept of a container that is about to be closed, or of one frame.
  void forget(uint64_t source);
  void forget(uint64_t source, uint32_t number);

  uint64_t kept_bytes();

  // Takes this many of the bytes for something else, in place of what was taken before, and lets go of what is kept in
  // them. What is being decoded keeps its memory.
  void lend(uint64_t bytes);

 private:
  using Key = std::pair<uint64_t, uint32_t>;
  struct Kept {
    Parts parts;
    std::vector<std::shared_ptr<const Buffer>> raw;  // by part; null: not decoded

    uint64_t entry_bytes() const;  // of a frame with entries; else 0
  };
  // Parts that follow each other.
  struct Run {
    size_t first = 0, count = 0;
  };

  Kept* place(const Key& key, const Parts& parts);
  void keep(const Key& key, const Parts& parts, const Run& run, const Frame& frame);
  std::vector<Run> take_known(const Key& key, const std::vector<bool>& wanted, Frame& frame);
  std::vector<Run> claim(const Key& key, const std::vector<Run>& missing);
  void release(const Key& key, const Run& run);
  void decode(const Address& address, const FrameParts& parts, const Run& run, Frame& frame);
  Result<std::shared_ptr<const Buffer>> range(const Address& address, uint64_t begin, uint64_t bytes);
  void make_room(uint64_t bytes, size_t most_left = 0);
  void make_room_for_entries(uint64_t bytes, const Kept& user);
  bool drop(const std::optional<Kept>& kept);

  const uint64_t all_bytes_, most_entry_bytes_;
  uint64_t memory_bytes_;  // that are not lent
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t decoding_ = 0, sources_ = 0;
  uint64_t entry_bytes_ = 0;                  // that are kept of frames with entries
  Lru<Key, Kept> kept_;                       // by their bytes
  std::set<std::pair<Key, size_t>> in_work_;  // parts that are being decoded
};

}  // namespace forebay::engine
