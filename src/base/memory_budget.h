// One budget for every buffer of an operation.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace forebay {

class MemoryBudget;

// A share of a budget, given back on destruction. Movable, not copyable.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Lease();
  uint64_t bytes() const { return budget_ ? bytes_ : 0; }

 private:
  friend class MemoryBudget;
  Lease(MemoryBudget* budget, uint64_t bytes) : budget_(budget), bytes_(bytes) {}
  MemoryBudget* budget_ = nullptr;
  uint64_t bytes_ = 0;
};

// Thread-safe. Leases are granted in the order of the requests, so one large request is not starved by small ones.
// A thread that holds a lease and asks for another can deadlock; take what a job needs at once.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes) : total_(bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Waits until `bytes` are free. limit at once if the whole budget is smaller than `bytes`; cancelled after cancel().
  Result<Lease> lease(uint64_t bytes);

  // Does not wait: limit if `bytes` are not free now.
  Result<Lease> try_lease(uint64_t bytes);

  // Wakes every waiting lease() and makes it and all later ones fail with cancelled.
  void cancel();

  uint64_t total() const { return total_; }
  uint64_t peak() const;  // the most that was ever leased at once

 private:
  friend class Lease;
  void give_back(uint64_t bytes);
  void take(uint64_t bytes);

  const uint64_t total_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t used_ = 0, peak_ = 0;
  uint64_t next_ticket_ = 0, serving_ = 0;
  bool cancelled_ = false;
};

}  // namespace forebay
