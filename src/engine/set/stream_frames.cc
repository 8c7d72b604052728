#include "engine/set/stream_frames.h"

#include <algorithm>
#include <utility>

namespace forebay::engine {
namespace {

using merge::Frame;
using merge::FrameGroup;
using merge::Stream;

bool is_agnostic(const merge::Plan& plan) {
  return !plan.groups().empty() && plan.groups()[0].streams[0].variable == merge::kWholeFile;
}

// Appends the part of [at, at + length) of the target that lies in the window, which `target` of the result counts
// from.
void append_clipped(StreamPart part, uint64_t window_begin, uint64_t window_end, std::vector<StreamPart>& parts) {
  const uint64_t begin = std::max(part.target, window_begin);
  const uint64_t end = std::min(part.target + part.length, window_end);
  if (begin >= end) return;
  parts.push_back({part.stream, part.begin + (begin - part.target), end - begin, begin - window_begin});
}

}  // namespace

std::vector<StreamPart> parts_of_variable(const merge::Plan& plan, uint32_t file, uint32_t variable, uint64_t begin,
                                          uint64_t length) {
  const Catalogue& catalogue = plan.catalogue();
  const VariableRow& row = catalogue.variables[variable];
  std::vector<StreamPart> parts;
  if (!is_agnostic(plan)) {
    const uint64_t bytes = catalogue.bytes_of(row);
    append_clipped({{file, variable, bytes}, 0, bytes, 0}, begin, begin + length, parts);
    return parts;
  }
  const Stream whole{file, merge::kWholeFile, catalogue.files[file].size};
  uint64_t at = 0;
  for (const Extent& extent : catalogue.extents_of(row)) {
    append_clipped({whole, extent.offset, extent.length, at}, begin, begin + length, parts);
    at += extent.length;
  }
  return parts;
}

FileParts::FileParts(const merge::Plan& plan, uint32_t file) {
  const Catalogue& catalogue = plan.catalogue();
  const FileRow& row = catalogue.files[file];
  const auto add_stream = [&](const Stream& stream, std::span<const Extent> extents) {
    uint64_t at = 0;
    for (const Extent& extent : extents) {
      runs_.push_back({extent.offset, extent.end(), stream, at});
      at += extent.length;
    }
  };
  if (is_agnostic(plan)) {
    add_stream({file, merge::kWholeFile, row.size}, std::vector{Extent{0, row.size}});
    return;
  }
  for (uint32_t i = row.first_variable; i < row.first_variable + row.variable_count; ++i)
    add_stream({file, i, 0}, catalogue.extents_of(catalogue.variables[i]));
  add_stream({file, merge::kSkeleton, 0}, catalogue.skeleton_of(row));
  std::ranges::sort(runs_, {}, &Run::begin);
}

std::vector<StreamPart> FileParts::within(uint64_t begin, uint64_t length) const {
  std::vector<StreamPart> parts;
  for (auto run = std::ranges::upper_bound(runs_, begin, {}, &Run::end);
       run != runs_.end() && run->begin < begin + length; ++run) {
    const uint64_t first = std::max(run->begin, begin), end = std::min(run->end, begin + length);
    if (first < end) parts.push_back({run->stream, run->at + (first - run->begin), end - first, first - begin});
  }
  return parts;
}

StreamFrames::StreamFrames(const merge::Plan& plan) : plan_(plan) {
  for (uint32_t group = 0; group < plan.groups().size(); ++group) {
    const auto& streams = plan.groups()[group].streams;
    for (uint32_t i = 0; i < streams.size(); ++i) places_.push_back({streams[i].file, streams[i].variable, group, i});
  }
  std::ranges::sort(places_, {}, [](const Place& place) { return std::pair(place.file, place.variable); });
}

const StreamFrames::Place* StreamFrames::find(const Stream& stream) const {
  const auto key = std::pair(stream.file, stream.variable);
  const auto at = std::ranges::lower_bound(places_, key, {},
                                           [](const Place& place) { return std::pair(place.file, place.variable); });
  return at != places_.end() && std::pair(at->file, at->variable) == key ? &*at : nullptr;
}

std::optional<StreamFrames::Held> StreamFrames::at(const Stream& stream, uint64_t offset) const {
  const Place* place = find(stream);
  if (!place) return std::nullopt;
  const FrameGroup& group = plan_.groups()[place->group];
  const uint64_t bytes = group.streams[place->stream].bytes;
  if (offset >= bytes) return std::nullopt;
  const std::span<const Frame> frames = plan_.frames().subspan(group.first_frame, group.frame_count);
  // Frames are in merge order: by stream and then offset where streams are concatenated, by offset and then stream
  // where they are interleaved. The frame of a byte is the last one that does not start after it; blocks are not cut.
  const bool interleaved = group.block_bytes != 0;
  const auto order = [&](uint32_t in, uint64_t at) {
    return interleaved ? std::pair<uint64_t, uint64_t>(at, in) : std::pair<uint64_t, uint64_t>(in, at);
  };
  const uint64_t block_begin = interleaved ? offset - offset % group.block_bytes : offset;
  const auto next = std::ranges::upper_bound(frames, order(place->stream, block_begin), {},
                                             [&](const Frame& frame) { return order(frame.stream, frame.offset); });
  Held held{.frame = group.first_frame + static_cast<uint32_t>(next - frames.begin()) - 1, .end = bytes};
  if (interleaved)
    held.end = std::min(held.end, block_begin + group.block_bytes);
  else if (next != frames.end() && next->stream == place->stream)
    held.end = next->offset;
  return held;
}

std::vector<uint32_t> StreamFrames::holding(const StreamPart& part) const {
  std::vector<uint32_t> numbers;
  const uint64_t end = part.begin + part.length;
  for (uint64_t offset = part.begin; offset < end;) {
    const auto held = at(part.stream, offset);
    if (!held) break;
    if (numbers.empty() || numbers.back() != held->frame) numbers.push_back(held->frame);
    offset = held->end;
  }
  return numbers;
}

}  // namespace forebay::engine
