// A reader of a set for one user, with a memory of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "engine/set/frame_cache.h"
#include "engine/set/set.h"
#include "engine/set/shared_reader.h"

namespace forebay::engine {

// Keeps the frames that were used last, as far as the memory allows, and none of which a call has taken all bytes.
class SetReader {
 public:
  // `set` must outlive this. `memory_bytes` pays for frames alone.
  SetReader(const OpenSet& set, uint64_t memory_bytes)
      : memory_bytes_(memory_bytes),
        cache_(std::make_shared<FrameCache>(memory_bytes)),
        reader_(std::shared_ptr<const OpenSet>(std::shared_ptr<const void>(), &set), cache_, 1,
                SharedReader::UsedUp::is_let_go) {}

  const SharedReader* operator->() const { return &reader_; }
  const SharedReader& operator*() const { return reader_; }

  // From now on frames may take `bytes`, of those that this was made with; what is kept beyond that is let go.
  void set_memory(uint64_t bytes) { cache_->lend(memory_bytes_ - std::min(bytes, memory_bytes_)); }

  uint64_t kept_bytes() const { return cache_->kept_bytes(); }

 private:
  const uint64_t memory_bytes_;
  const std::shared_ptr<FrameCache> cache_;
  const SharedReader reader_;
};

}  // namespace forebay::engine
