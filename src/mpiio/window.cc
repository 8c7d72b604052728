#include "mpiio/window.h"

#include <algorithm>
#include <cstring>

namespace forebay::lock::mpiio {
namespace {

constexpr size_t kMostRuns = 8;  // more pieces than this are cheaper to write with the holes between them

View plain_view(uint64_t offset) { return {.displacement = static_cast<int64_t>(offset)}; }

Memory memory_of(std::span<std::byte> bytes) { return {bytes.data(), Pattern::bytes(bytes.size()), 1}; }

}  // namespace

uint64_t total_length(std::span<const Segment> pieces) {
  uint64_t sum = 0;
  for (const Segment& piece : pieces) sum += piece.length;
  return sum;
}

bool Window::holds(const Segment& piece) const {
  const auto begin = static_cast<uint64_t>(piece.offset);
  return begin >= place_.first && begin <= place_.end && piece.length <= place_.end - begin;
}

Result<void> Window::use(std::span<const Segment> pieces) {
  bytes_.resize(place_.end - place_.first);
  for (const Segment& piece : pieces) {
    if (!holds(piece)) return fail(ErrorKind::internal, "a rank sent a piece outside of the aggregator's window");
    const auto begin = static_cast<uint64_t>(piece.offset);
    if (!used_.empty() && used_.back().end == begin)
      used_.back().end += piece.length;
    else
      used_.push_back({begin, begin + piece.length});
  }
  return {};
}

Result<void> Window::expect(std::span<const Segment> pieces) { return use(pieces); }

Result<void> Window::put(std::span<const Segment> pieces, std::span<const std::byte> bytes) {
  if (total_length(pieces) != bytes.size())
    return fail(ErrorKind::internal, "a rank sent other bytes than it announced");
  FOREBAY_CHECK(use(pieces));
  for (const Segment& piece : pieces) {
    std::memcpy(bytes_.data() + (static_cast<uint64_t>(piece.offset) - place_.first), bytes.data(), piece.length);
    bytes = bytes.subspan(piece.length);
  }
  return {};
}

// What is used, in order and joined.
std::vector<Extent> Window::runs() const {
  std::vector<Extent> sorted = used_, joined;
  std::ranges::sort(sorted, {}, &Extent::first);
  for (const Extent& one : sorted) {
    if (!joined.empty() && one.first <= joined.back().end)
      joined.back().end = std::max(joined.back().end, one.end);
    else
      joined.push_back(one);
  }
  return joined;
}

Result<void> Window::write(int fd, const BeforeCall& before_call) {
  std::vector<Extent> runs = this->runs();
  if (runs.size() > kMostRuns) {
    const Extent all{runs.front().first, runs.back().end};
    Bytes old(all.end - all.first);
    FOREBAY_CHECK(mpiio::read(fd, plain_view(all.first), 0, memory_of(old), before_call));
    for (size_t i = 1; i < runs.size(); ++i) {
      const Extent hole{runs[i - 1].end, runs[i].first};
      std::memcpy(at(hole).data(), old.data() + (hole.first - all.first), hole.end - hole.first);
    }
    runs = {all};
  }
  for (const Extent& run : runs)
    FOREBAY_CHECK(mpiio::write(fd, plain_view(run.first), 0, memory_of(at(run)), Sieve::never, before_call));
  return {};
}

Result<void> Window::read(int fd, const BeforeCall& before_call) {
  const std::vector<Extent> runs = this->runs();
  if (runs.empty()) return {};
  const Extent all{runs.front().first, runs.back().end};
  FOREBAY_CHECK(mpiio::read(fd, plain_view(all.first), 0, memory_of(at(all)), before_call));
  return {};
}

Bytes Window::get(std::span<const Segment> pieces) const {
  Bytes bytes(total_length(pieces));
  std::byte* to = bytes.data();
  for (const Segment& piece : pieces) {
    if (!bytes_.empty() && holds(piece))
      std::memcpy(to, bytes_.data() + (static_cast<uint64_t>(piece.offset) - place_.first), piece.length);
    to += piece.length;
  }
  return bytes;
}

}  // namespace forebay::lock::mpiio
