#include "merge/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "merge/cut.h"
#include "merge/groups.h"

namespace forebay::merge {

Result<void> check_spec(const PlanSpec& spec, size_t keys) {
  const auto bad = [](std::string what) { return fail(ErrorKind::invalid_argument, std::move(what)); };
  if (spec.scheme > Scheme::aware_block) return bad("no such merge scheme");
  if (spec.frame_bytes < kMinFrameBytes || spec.frame_bytes > kMaxFrameBytes)
    return bad(
        fmt::format("a frame of {} bytes is outside {} to {}", spec.frame_bytes, kMinFrameBytes, kMaxFrameBytes));
  const auto is_block = [&](uint64_t bytes) { return bytes >= kMinBlockBytes && bytes <= spec.frame_bytes; };
  if (!is_block(spec.block_bytes))
    return bad(
        fmt::format("a block of {} bytes is outside {} to {}", spec.block_bytes, kMinBlockBytes, spec.frame_bytes));
  if (!spec.key_block_bytes.empty() && spec.key_block_bytes.size() != keys)
    return bad("the block sizes do not match the variable groups");
  for (const uint64_t bytes : spec.key_block_bytes)
    if (bytes != 0 && !is_block(bytes)) return bad("a variable group's block size is out of range");
  return {};
}

Result<Plan> Plan::make(const Catalogue& catalogue, const PlanSpec& spec, uint64_t max_frames) {
  FOREBAY_CHECK(check_spec(spec, catalogue.keys.size()));
  Plan plan;
  plan.catalogue_ = &catalogue;
  const bool agnostic = spec.scheme == Scheme::agnostic || spec.scheme == Scheme::agnostic_block;
  for (const FileRow& file : catalogue.files)
    plan.file_extents_.push_back(agnostic ? std::vector{Extent{0, file.size}} : catalogue.skeleton_of(file));
  plan.groups_ = make_groups(catalogue, spec, plan.file_extents_);
  for (uint32_t number = 0; number < plan.groups_.size(); ++number) {
    FrameGroup& group = plan.groups_[number];
    std::vector<uint64_t> units;
    for (const Stream& stream : group.streams)
      units.push_back(stream.variable >= kSkeleton || group.type == kBytes
                          ? 1
                          : cut_unit(catalogue.shapes[catalogue.variables[stream.variable].block], group.type.size,
                                     spec.frame_bytes));
    group.first_frame = static_cast<uint32_t>(plan.frames_.size());
    if (!cut_group(group, number, spec.frame_bytes, units, std::min(max_frames, kMaxFrames), plan.frames_))
      return fail(ErrorKind::limit, fmt::format("the plan has more than {} frames", std::min(max_frames, kMaxFrames)));
    group.frame_count = static_cast<uint32_t>(plan.frames_.size()) - group.first_frame;
  }
  return plan;
}

std::vector<Slice> Plan::slices(const Frame& frame) const { return slices_of(groups_[frame.group], frame); }

std::span<const Extent> Plan::extents_of(const Stream& stream) const {
  if (stream.variable >= kSkeleton) return file_extents_[stream.file];
  return catalogue_->extents_of(catalogue_->variables[stream.variable]);
}

void Plan::for_each_extent(const Slice& slice, const std::function<void(uint64_t, uint64_t)>& visit) const {
  const std::span<const Extent> extents = extents_of(slice.stream);
  uint64_t skip = slice.begin, left = slice.length;
  size_t i = 0;
  // Variables have extents of one length, so the first one is found at once; a skeleton's have any.
  if (slice.stream.variable < kSkeleton && !catalogue_->variables[slice.stream.variable].filtered) {
    i = skip / extents[0].length;
    skip %= extents[0].length;
  }
  for (; left != 0; ++i) {
    if (skip >= extents[i].length) {
      skip -= extents[i].length;
      continue;
    }
    const uint64_t length = std::min(left, extents[i].length - skip);
    visit(extents[i].offset + skip, length);
    left -= length;
    skip = 0;
  }
}

namespace {

// At most four dimensions: ones are dropped, surplus leading dimensions are multiplied together.
Block to_block(uint64_t leading, std::span<const uint64_t> inner) {
  Block block;
  size_t at = 4;
  const auto put = [&](uint64_t dim) {
    if (dim == 1) return;
    if (at > 0) {
      block.dims[--at] = dim;
    } else {
      block.dims[0] *= dim;
    }
  };
  for (size_t i = inner.size(); i-- > 0;) put(inner[i]);
  put(leading);
  return block;
}

// The part [begin, begin + count) of an array of shape `dims`, in elements, as a block: whole rows, planes or volumes
// where it consists of them.
Block part_of_array(std::span<const uint64_t> dims, uint64_t begin, uint64_t count) {
  Block best = to_block(count, {});
  uint64_t unit = 1;  // elements in the dimensions after `outer`
  for (size_t outer = dims.size(); outer-- > 0;) {
    if (begin % unit != 0 || count % unit != 0) break;
    best = to_block(count / unit, dims.subspan(outer + 1));
    unit *= dims[outer];
  }
  return best;
}

}  // namespace

void Plan::append_blocks(const Slice& slice, const DataType& type, std::vector<Block>& blocks) const {
  const uint64_t count = slice.length / type.size;
  if (slice.stream.variable >= kSkeleton || type == kBytes) {
    blocks.push_back(to_block(count, {}));
    return;
  }
  const Shape& dims = catalogue_->shapes[catalogue_->variables[slice.stream.variable].block];
  const uint64_t array = element_count(dims);
  for (uint64_t begin = slice.begin / type.size, left = count; left != 0;) {
    const uint64_t within = begin % array;
    const uint64_t part = std::min(left, array - within);
    blocks.push_back(part_of_array(dims, within, part));
    begin += part;
    left -= part;
  }
}

FrameShape Plan::shape(const Frame& frame, std::span<const Slice> slices) const {
  FrameShape shape{.type = groups_[frame.group].type, .blocks = {}};
  const auto is_whole = [&](const Slice& slice) {
    return slice.begin % shape.type.size == 0 && slice.length % shape.type.size == 0;
  };
  if (!std::ranges::all_of(slices, is_whole)) shape.type = kBytes;
  for (const Slice& slice : slices) append_blocks(slice, shape.type, shape.blocks);
  return shape;
}

uint64_t Plan::memory_bytes() const {
  uint64_t bytes = frames_.capacity() * sizeof(Frame) + groups_.capacity() * sizeof(FrameGroup);
  for (const FrameGroup& group : groups_) bytes += group.streams.capacity() * sizeof(Stream);
  for (const auto& extents : file_extents_) bytes += extents.capacity() * sizeof(Extent);
  return bytes;
}

}  // namespace forebay::merge
