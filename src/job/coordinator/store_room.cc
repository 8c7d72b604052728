#include "job/coordinator/store_room.h"

#include <fmt/format.h>

#include "base/size_text.h"

namespace forebay::job {
namespace {

constexpr size_t kMostSeen = 9;   // eight differences
constexpr size_t kLeastSeen = 3;  // one set may be an exception
constexpr uint64_t kFewSets = 10, kEnoughSets = 15;

}  // namespace

void StoreRoomWatch::stored(const StoreRoom& room, uint64_t set_bytes) {
  seen_.push_back(room);
  if (seen_.size() > kMostSeen) seen_.pop_front();
  set_bytes_ = set_bytes;
  warning_ = judge();
}

uint64_t StoreRoomWatch::used_by_a_set() const {
  if (seen_.size() < kLeastSeen || seen_.front().free_bytes <= seen_.back().free_bytes) return 0;
  return (seen_.front().free_bytes - seen_.back().free_bytes) / (seen_.size() - 1);
}

std::optional<uint64_t> StoreRoomWatch::sets_left() const {
  const uint64_t used = used_by_a_set();
  if (used == 0) return std::nullopt;
  return seen_.back().free_bytes / used;
}

std::string StoreRoomWatch::judge() const {
  const uint64_t free = seen_.back().free_bytes;
  const auto left = sets_left();
  if (left && *left < (warning_.empty() ? kFewSets : kEnoughSets))
    return fmt::format("the store fills up: {} are free, and each set uses {}, which is enough for {} more sets",
                       format_bytes(free), format_bytes(used_by_a_set()), *left);
  if (free < set_bytes_)
    return fmt::format("the store is nearly full: {} are free, and the last set took {}", format_bytes(free),
                       format_bytes(set_bytes_));
  return {};
}

}  // namespace forebay::job
