// A bounded number of open file descriptors for an unbounded number of files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "base/lru.h"
#include "store/files.h"

namespace forebay::store {

// Keeps the most recently used descriptors open. Thread-safe. A descriptor that is in use stays open even when the
// cache has dropped it, so the number of open ones is bounded by capacity plus the number of threads.
class FdCache {
 public:
  explicit FdCache(size_t capacity) : capacity_(capacity) {}

  // The descriptor of `id`, from `open` if the cache does not have it.
  Result<std::shared_ptr<const Fd>> get(uint64_t id, const std::function<Result<Fd>()>& open);

  void put(uint64_t id, Fd fd);
  void drop(uint64_t id);
  size_t size() const;

 private:
  std::shared_ptr<const Fd> insert(uint64_t id, Fd fd);

  const size_t capacity_;
  mutable std::mutex mutex_;
  Lru<uint64_t, std::shared_ptr<const Fd>> open_;
};

}  // namespace forebay::store
