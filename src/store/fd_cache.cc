#include "store/fd_cache.h"

namespace forebay::store {

Result<std::shared_ptr<const Fd>> FdCache::get(uint64_t id, const std::function<Result<Fd>()>& open) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto* const known = open_.find(id)) return *known;
  }
  FOREBAY_TRY(Fd fd, open());
  return insert(id, std::move(fd));
}

void FdCache::put(uint64_t id, Fd fd) { insert(id, std::move(fd)); }

std::shared_ptr<const Fd> FdCache::insert(uint64_t id, Fd fd) {
  auto made = std::make_shared<const Fd>(std::move(fd));
  std::vector<std::shared_ptr<const Fd>> evicted;  // closed after the lock is given back
  const std::lock_guard lock(mutex_);
  auto shared = open_.add(id, std::move(made));  // or that of another thread, which was faster
  evicted = open_.trim(capacity_);
  return shared;
}

void FdCache::drop(uint64_t id) {
  std::optional<std::shared_ptr<const Fd>> dropped;
  const std::lock_guard lock(mutex_);
  dropped = open_.take(id);
}

size_t FdCache::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

}  // namespace forebay::store
