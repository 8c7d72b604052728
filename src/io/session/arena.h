// Memory for the copies of what is written between open and close.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::io {

// Pieces stay where they are until clear(). Not thread-safe. Memory that was used once is kept and used again after
// clear(), since pages that the system has to clear first cost as much as what is done with them.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;

  // Uninitialised bytes, aligned for every type. Empty if the system has no memory, or if `bytes` is 0.
  std::span<std::byte> allocate(uint64_t bytes);

  // What was handed out since clear(), rounded up as it was.
  uint64_t used() const { return used_; }

  // What `bytes` will add to used().
  static uint64_t cost(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  // Takes everything back, and keeps memory for as much as was used since the last clear().
  void clear();

 private:
  static constexpr uint64_t kAlignment = 64;
  static constexpr uint64_t kChunkBytes = uint64_t{16} << 20;
  struct Chunk {
    std::byte* data = nullptr;
    uint64_t size = 0, used = 0;
  };
  void release();

  std::vector<Chunk> chunks_;
  size_t current_ = 0;  // the chunk that the next piece may fit into; later ones are empty
  uint64_t used_ = 0;
};

}  // namespace forebay::io
