#include "engine/set/box_plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::engine {

Result<BoxPlan> BoxPlan::make(const StreamFrames& frames, uint32_t file, uint32_t variable, const Box& box) {
  const Catalogue& catalogue = frames.plan().catalogue();
  const VariableRow& row = catalogue.variables[variable];
  const Shape &shape = catalogue.shapes[row.shape], &block = catalogue.shapes[row.block];
  const auto bad = [&](ErrorKind kind, std::string_view what) {
    return fail(kind, fmt::format("{} of {}: {}", catalogue.paths[row.path], catalogue.files[file].name, what));
  };
  if (row.filtered) return bad(ErrorKind::unsupported, "its chunks are stored as the application's filters left them");
  if (row.partial) return bad(ErrorKind::unsupported, "parts of it were never allocated, and which is not recorded");
  if (block_count(shape, block) != row.extent_count)
    return bad(ErrorKind::corrupt, "its blocks do not cover its shape");
  auto layout = BoxLayout::make(shape, block, row.type.size, box);
  if (!layout) return bad(layout.error().kind, layout.error().what);

  BoxPlan plan(*std::move(layout));
  const std::vector<StreamPart> parts =
      parts_of_variable(frames.plan(), file, variable, 0, plan.layout_.stored_bytes());
  for (const StreamPart& part : parts) {
    const auto first = plan.layout_.next(part.target);
    if (!first || *first >= part.target + part.length) continue;
    plan.stream_ = part.stream;
    plan.parts_.push_back({part.begin, part.length, part.target});
  }
  std::ranges::sort(plan.parts_, {}, &Part::begin);
  plan.find_frames(frames);
  return plan;
}

void BoxPlan::find_frames(const StreamFrames& frames) {
  for (const Part& part : parts_) {
    const uint64_t end = part.stored + part.length;
    for (auto at = layout_.next(part.stored); at && *at < end;) {
      const auto held = frames.at(stream_, part.begin + (*at - part.stored));
      if (!held) break;
      if (frames_.empty() || frames_.back() != held->frame) frames_.push_back(held->frame);
      at = layout_.next(part.stored + (held->end - part.begin));
    }
  }
  std::ranges::sort(frames_);
  frames_.erase(std::ranges::unique(frames_).begin(), frames_.end());
}

void BoxPlan::for_each_piece(std::span<const merge::Slice> slices, const Visit& visit) const {
  uint64_t at = 0;  // in the frame
  for (const merge::Slice& slice : slices) {
    const uint64_t slice_at = at, slice_end = slice.begin + slice.length;
    at += slice.length;
    if (slice.stream.file != stream_.file || slice.stream.variable != stream_.variable) continue;
    auto part = std::ranges::upper_bound(parts_, slice.begin, {}, &Part::begin);
    if (part != parts_.begin()) --part;
    for (; part != parts_.end() && part->begin < slice_end; ++part) {
      const uint64_t begin = std::max(slice.begin, part->begin);
      const uint64_t end = std::min(slice_end, part->begin + part->length);
      if (begin >= end) continue;
      const uint64_t stored = part->stored + (begin - part->begin);
      layout_.for_each_run(stored, stored + (end - begin), [&](uint64_t run, uint64_t target, uint64_t length) {
        visit(slice_at + (begin - slice.begin) + (run - stored), target, length);
      });
    }
  }
}

}  // namespace forebay::engine
