#include "engine/set/box_plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::engine {

namespace {

// What is wrong with a variable of a file.
std::unexpected<Error> bad(const StreamFrames& frames, uint32_t file, uint32_t variable, ErrorKind kind,
                           std::string_view what) {
  const Catalogue& catalogue = frames.plan().catalogue();
  return fail(kind, fmt::format("{} of {}: {}", catalogue.paths[catalogue.variables[variable].path],
                                catalogue.files[file].name, what));
}

// Whether the blocks of a variable are there as they are, all of them.
Result<void> check_readable(const StreamFrames& frames, uint32_t file, uint32_t variable) {
  const Catalogue& catalogue = frames.plan().catalogue();
  const VariableRow& row = catalogue.variables[variable];
  if (row.filtered)
    return bad(frames, file, variable, ErrorKind::unsupported,
               "its chunks are stored as the application's filters left them");
  if (row.partial)
    return bad(frames, file, variable, ErrorKind::unsupported,
               "parts of it were never allocated, and which is not recorded");
  if (block_count(catalogue.shapes[row.shape], catalogue.shapes[row.block]) != row.extent_count)
    return bad(frames, file, variable, ErrorKind::corrupt, "its blocks do not cover its shape");
  return {};
}

}  // namespace

Result<BoxPlan> BoxPlan::make(const StreamFrames& frames, uint32_t file, uint32_t variable, const Box& box) {
  const Catalogue& catalogue = frames.plan().catalogue();
  const VariableRow& row = catalogue.variables[variable];
  FOREBAY_CHECK(check_readable(frames, file, variable));
  auto layout = BoxLayout::make(catalogue.shapes[row.shape], catalogue.shapes[row.block], row.type.size, box);
  if (!layout) return bad(frames, file, variable, layout.error().kind, layout.error().what);
  return make(frames, file, variable, 0, *std::move(layout));
}

Result<BoxPlan> BoxPlan::make_flat(const StreamFrames& frames, uint32_t file, uint32_t variable, uint64_t first,
                                   const Shape& shape, const Box& box) {
  const Catalogue& catalogue = frames.plan().catalogue();
  const VariableRow& row = catalogue.variables[variable];
  FOREBAY_CHECK(check_readable(frames, file, variable));
  if (row.block != row.shape)
    return bad(frames, file, variable, ErrorKind::unsupported,
               "it is cut into chunks, and a part of it is taken as a line");
  auto layout = BoxLayout::make(shape, shape, row.type.size, box);
  if (!layout) return bad(frames, file, variable, layout.error().kind, layout.error().what);
  const uint64_t elements = catalogue.bytes_of(row) / row.type.size;
  if (first > elements || layout->stored_bytes() / row.type.size > elements - first)
    return bad(frames, file, variable, ErrorKind::invalid_argument,
               fmt::format("{} elements from {} on are not among its {}", element_count(shape), first, elements));
  return make(frames, file, variable, first * row.type.size, *std::move(layout));
}

// `begin` is where the layout begins among the variable's stored bytes.
BoxPlan BoxPlan::make(const StreamFrames& frames, uint32_t file, uint32_t variable, uint64_t begin, BoxLayout layout) {
  BoxPlan plan(std::move(layout));
  const std::vector<StreamPart> parts =
      parts_of_variable(frames.plan(), file, variable, begin, plan.layout_.stored_bytes());
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
