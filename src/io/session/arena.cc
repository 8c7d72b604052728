#include "io/session/arena.h"

#include <algorithm>
#include <utility>

#include <sys/mman.h>

namespace forebay::io {

Arena::~Arena() { release(); }

Arena::Arena(Arena&& other) noexcept
    : chunks_(std::exchange(other.chunks_, {})),
      current_(std::exchange(other.current_, 0)),
      used_(std::exchange(other.used_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(chunks_, other.chunks_);
  std::swap(current_, other.current_);
  std::swap(used_, other.used_);
  return *this;
}

void Arena::release() {
  for (const Chunk& chunk : chunks_) munmap(chunk.data, chunk.size);
  chunks_.clear();
}

std::span<std::byte> Arena::allocate(uint64_t bytes) {
  const uint64_t cost_bytes = cost(bytes);
  if (bytes == 0 || cost_bytes < bytes) return {};
  while (current_ < chunks_.size() && chunks_[current_].size - chunks_[current_].used < cost_bytes) ++current_;
  if (current_ == chunks_.size()) {
    const uint64_t size = std::max(cost_bytes, kChunkBytes);
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return {};
    madvise(data, size, MADV_HUGEPAGE);  // fewer pages to be cleared one by one; it is no loss if there are none
    chunks_.push_back({static_cast<std::byte*>(data), size, 0});
  }
  Chunk& chunk = chunks_[current_];
  const std::span<std::byte> piece(chunk.data + chunk.used, bytes);
  chunk.used += cost_bytes;
  used_ += cost_bytes;
  return piece;
}

void Arena::clear() {
  std::erase_if(chunks_, [](Chunk& chunk) {
    const bool was_used = std::exchange(chunk.used, 0) > 0;
    if (!was_used) munmap(chunk.data, chunk.size);
    return !was_used;
  });
  current_ = 0;
  used_ = 0;
}

}  // namespace forebay::io
