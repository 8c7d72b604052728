#include "engine/set/set_reader.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <fmt/format.h>

namespace forebay::engine {
namespace {

auto order_of(const merge::Stream& stream, uint64_t begin) { return std::tuple(stream.file, stream.variable, begin); }

}  // namespace

SetReader::SetReader(const OpenSet& set, uint64_t memory_bytes)
    : set_(set), memory_bytes_(memory_bytes), locators_(set.containers.size()) {}

void SetReader::set_memory(uint64_t bytes) {
  memory_bytes_ = bytes;
  cached_.trim(bytes);
}

Result<const SetReader::CachedFrame*> SetReader::frame(size_t container, uint32_t number) {
  if (const CachedFrame* const known = cached_.find({container, number})) return known;
  const OpenContainer& opened = set_.containers[container];
  const uint64_t needed = frame_memory(opened, number);
  if (needed > memory_bytes_)
    return fail(ErrorKind::limit,
                fmt::format("frame {} needs {} bytes of memory, and {} are left", number, needed, memory_bytes_),
                opened.path, {}, "give a larger memory budget");
  cached_.trim(memory_bytes_ - needed);
  FOREBAY_TRY(RawFrame raw, read_frame(opened, number));
  ++frames_read_;
  CachedFrame entry{.frame = std::move(raw), .held = {}};
  size_t at = 0;
  for (const merge::Slice& slice : entry.frame.slices) {
    entry.held.push_back({slice, at});
    at += slice.length;
  }
  std::ranges::sort(entry.held, {}, [](const Held& held) { return order_of(held.slice.stream, held.slice.begin); });
  const uint64_t bytes =
      entry.frame.raw.size() + entry.held.size() * sizeof(Held) + entry.frame.slices.size() * sizeof(merge::Slice);
  return &cached_.add({container, number}, std::move(entry), bytes);
}

const StreamFrames& SetReader::locator(size_t container) {
  if (!locators_[container]) locators_[container].emplace(*set_.containers[container].plan);
  return *locators_[container];
}

Result<void> SetReader::check_copied(size_t container, uint64_t copied, uint64_t wanted) const {
  if (copied == wanted) return {};
  return fail(ErrorKind::internal, fmt::format("the plan yields {} of {} bytes", copied, wanted),
              set_.containers[container].path);
}

Result<void> SetReader::read_parts(size_t container, std::span<const StreamPart> parts, std::span<std::byte> out) {
  const StreamFrames& frames = locator(container);
  uint64_t copied = 0;
  for (const StreamPart& part : parts) {
    for (const uint32_t number : frames.holding(part)) {
      FOREBAY_TRY(const CachedFrame* const cached, frame(container, number));
      // The slices of one stream in one frame are disjoint: the first that may matter is the last to begin by
      // part.begin.
      const auto& held = cached->held;
      auto at = std::ranges::upper_bound(held, order_of(part.stream, part.begin), {},
                                         [](const Held& h) { return order_of(h.slice.stream, h.slice.begin); });
      if (at != held.begin()) --at;
      for (; at != held.end() &&
             order_of(at->slice.stream, at->slice.begin) < order_of(part.stream, part.begin + part.length);
           ++at) {
        if (at->slice.stream.file != part.stream.file || at->slice.stream.variable != part.stream.variable) continue;
        const uint64_t begin = std::max(at->slice.begin, part.begin);
        const uint64_t end = std::min(at->slice.begin + at->slice.length, part.begin + part.length);
        if (begin >= end) continue;
        std::memcpy(out.data() + part.target + (begin - part.begin),
                    cached->frame.raw.data() + at->at + (begin - at->slice.begin), end - begin);
        copied += end - begin;
      }
    }
  }
  return check_copied(container, copied, out.size());
}

Result<BoxPlan> SetReader::plan_box(size_t container, uint32_t file, uint32_t variable, const Box& box) {
  auto plan = BoxPlan::make(locator(container), file, variable, box);
  if (!plan && plan.error().path.empty()) plan.error().path = set_.containers[container].path;
  return plan;
}

Result<void> SetReader::read_box(size_t container, const BoxPlan& plan, std::span<std::byte> out) {
  FOREBAY_CHECK(check_copied(container, plan.bytes(), out.size()));
  uint64_t copied = 0;
  for (const uint32_t number : plan.frames()) {
    FOREBAY_TRY(const CachedFrame* const cached, frame(container, number));
    const uint64_t copied_before = copied;
    plan.for_each_piece(cached->frame.slices, [&](uint64_t from, uint64_t to, uint64_t length) {
      std::memcpy(out.data() + to, cached->frame.raw.data() + from, length);
      copied += length;
    });
    if (copied - copied_before == cached->frame.raw.size()) cached_.take({container, number});
  }
  return check_copied(container, copied, out.size());
}

Result<void> SetReader::read_variable(size_t container, uint32_t file, uint32_t variable, uint64_t begin,
                                      std::span<std::byte> out) {
  return read_parts(container, parts_of_variable(*set_.containers[container].plan, file, variable, begin, out.size()),
                    out);
}

Result<void> SetReader::read_file(size_t container, uint32_t file, uint64_t begin, std::span<std::byte> out) {
  return read_parts(container, FileParts(*set_.containers[container].plan, file).within(begin, out.size()), out);
}

}  // namespace forebay::engine
