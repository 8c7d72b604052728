#include "mpiio/two_phase.h"

#include <algorithm>

namespace forebay::lock::mpiio {
namespace {

constexpr uint64_t kSmallTransfer = 64u << 10;  // bytes; larger pieces make good system calls by themselves
constexpr uint64_t kLeastDensity = 16;          // at most so many bytes of the file are moved for one that is wanted

}  // namespace

Demand demand_of(const View& view, uint64_t data_begin, uint64_t data_end) {
  Demand demand;
  Cursor cursor(view.filetype, view.displacement, data_begin, data_end);
  Segment segment;
  while (cursor.next(segment)) {
    const auto begin = static_cast<uint64_t>(segment.offset);
    if (begin < demand.end) demand.ordered = false;
    demand.first = std::min(demand.first, begin);
    demand.end = std::max(demand.end, begin + segment.length);
    demand.bytes += segment.length;
    ++demand.pieces;
  }
  if (demand.pieces > 0) demand.span = demand.end - demand.first;
  return demand;
}

bool exchange_pays(const Demand& all) {
  if (!all.ordered || all.pieces == 0) return false;
  const uint64_t range = all.end - all.first;
  return all.bytes / all.pieces < kSmallTransfer && all.span > range + range / 4 && range / kLeastDensity <= all.bytes;
}

Rounds::Rounds(Extent range, int aggregators, uint64_t window_bytes)
    : range_(range),
      aggregators_(static_cast<uint64_t>(aggregators)),
      window_bytes_(window_bytes),
      base_(range.first / window_bytes * window_bytes) {
  const uint64_t windows = range.end > range.first ? (range.end - base_ - 1) / window_bytes_ + 1 : 0;
  count_ = (windows + aggregators_ - 1) / aggregators_;
}

Extent Rounds::window(int aggregator, uint64_t round) const {
  const uint64_t number = round * aggregators_ + static_cast<uint64_t>(aggregator);
  const uint64_t begin = base_ + number * window_bytes_;
  const Extent window{std::max(begin, range_.first), std::min(begin + window_bytes_, range_.end)};
  return window.first < window.end ? window : Extent{};
}

Extent data_within(const View& view, Extent wanted, Extent window) {
  const auto cut = [&](uint64_t file_offset) {
    return std::clamp(data_bytes_before(view, file_offset), wanted.first, wanted.end);
  };
  return {cut(window.first), cut(window.end)};
}

}  // namespace forebay::lock::mpiio
