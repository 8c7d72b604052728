#include "store/fd_cache.h"

namespace forebay::store {

Result<std::shared_ptr<const Fd>> FdCache::get(uint64_t id, const std::function<Result<Fd>()>& open) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = index_.find(id); found != index_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->second;
    }
  }
  FOREBAY_TRY(Fd fd, open());
  return insert(id, std::move(fd));
}

void FdCache::put(uint64_t id, Fd fd) { insert(id, std::move(fd)); }

std::shared_ptr<const Fd> FdCache::insert(uint64_t id, Fd fd) {
  auto shared = std::make_shared<const Fd>(std::move(fd));
  std::shared_ptr<const Fd> evicted;  // closed after the lock is given back
  const std::lock_guard lock(mutex_);
  const auto [slot, is_new] = index_.try_emplace(id);
  if (!is_new) return slot->second->second;  // another thread was faster
  entries_.emplace_front(id, shared);
  slot->second = entries_.begin();
  if (entries_.size() > capacity_) {
    evicted = std::move(entries_.back().second);
    index_.erase(entries_.back().first);
    entries_.pop_back();
  }
  return shared;
}

void FdCache::drop(uint64_t id) {
  std::shared_ptr<const Fd> dropped;
  const std::lock_guard lock(mutex_);
  const auto found = index_.find(id);
  if (found == index_.end()) return;
  dropped = std::move(found->second->second);
  entries_.erase(found->second);
  index_.erase(found);
}

size_t FdCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

}  // namespace forebay::store
