#include "base/memory_budget.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay {

static std::unexpected<Error> too_small(uint64_t wanted, uint64_t there) {
  return fail(ErrorKind::limit, fmt::format("{} bytes of memory are needed where the budget has {}", wanted, there), {},
              {}, "raise --memory");
}

Lease::~Lease() {
  if (budget_) budget_->give_back(bytes_);
}

void MemoryBudget::take(uint64_t bytes) {
  used_ += bytes;
  peak_ = std::max(peak_, used_);
}

Result<Lease> MemoryBudget::lease(uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (bytes > total_) return too_small(bytes, total_);
  const uint64_t ticket = next_ticket_++;
  changed_.wait(lock, [&] { return cancelled_ || (serving_ == ticket && bytes <= total_ - used_); });
  if (cancelled_) return fail(ErrorKind::cancelled, "the operation was cancelled");
  ++serving_;
  take(bytes);
  changed_.notify_all();
  return Lease(this, bytes);
}

Result<Lease> MemoryBudget::try_lease(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (cancelled_) return fail(ErrorKind::cancelled, "the operation was cancelled");
  if (bytes > total_ - used_) return too_small(bytes, total_ - used_);
  take(bytes);
  return Lease(this, bytes);
}

void MemoryBudget::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
}

uint64_t MemoryBudget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

void MemoryBudget::give_back(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
  changed_.notify_all();
}

}  // namespace forebay
