// How long the store's room lasts, from what is free after each set. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace forebay::job {

// Of the file system that a store is on, in bytes.
struct StoreRoom {
  uint64_t free_bytes = 0;  // for this user, without quotas
  uint64_t total_bytes = 0;
};

class StoreRoomWatch {
 public:
  // To be called after each set that became durable, with the bytes of its containers.
  void stored(const StoreRoom& room, uint64_t set_bytes);

  // As of the last set; none before the first.
  std::optional<StoreRoom> room() const { return seen_.empty() ? std::nullopt : std::optional(seen_.back()); }

  // How many more sets fit, if as much is used between two sets as was by the last ones, by this job, by its retention
  // and by all others. None if that is not known yet, or nothing is used up.
  std::optional<uint64_t> sets_left() const;

  // What to warn of: that fewer than 10 sets are left, until 15 are, or that one more set may not fit. Empty: nothing.
  const std::string& warning() const { return warning_; }

 private:
  uint64_t used_by_a_set() const;
  std::string judge() const;

  std::deque<StoreRoom> seen_;  // after the last sets, oldest first
  uint64_t set_bytes_ = 0;      // of the last set
  std::string warning_;
};

}  // namespace forebay::job
