// AMReX in HDF5 (and Castro's): groups level_N, where `boxes` says where boxes lie and "data:offsets=0" where the
// values of each begin in the line "data:datatype=0", component after component.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

// Corners of boxes, both inside: x, y, z of the lower one, then those of the upper one.
using Corners = std::vector<int64_t>;

struct AmrexLevel {
  uint64_t dimensions = 0;
  std::vector<Corners> boxes;
  std::vector<int64_t> offsets;  // of each box, and the end, in elements
  uint64_t data = 0;             // the stored array
  Corners domain;
};

bool is_possible(const Corners& box) {
  const size_t dimensions = box.size() / 2;
  for (size_t d = 0; d < dimensions; ++d)
    if (box[dimensions + d] < box[d] || box[d] < -(int64_t{1} << 31) || box[dimensions + d] > int64_t{1} << 31)
      return false;
  return !box.empty();
}

std::optional<Corners> one_box(std::span<const std::byte> bytes) {
  Corners box;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) box.push_back(load_le<int32_t>(bytes.data() + at));
  return is_possible(box) ? std::optional(box) : std::nullopt;
}

Result<AmrexLevel> read_amrex_level(const SetLook& look, const Recognised& found, const SetFile& file,
                                    const format::FileAttributes& attributes, const std::string& group) {
  constexpr uint64_t kMostBytes = 256 << 20;
  AmrexLevel level;
  const StoredArray& boxes = found.arrays.stored[*file.find(group + "/boxes")];
  const uint64_t size = type_of(look.set(), boxes).size;
  const auto offsets = file.find(group + "/data:offsets=0"), data = file.find(group + "/data:datatype=0");
  if ((size != 8 && size != 16 && size != 24) || !offsets || !data)
    return fail(ErrorKind::corrupt, fmt::format("{} has no boxes, offsets or data of AMReX", group), file.row->name);
  level.dimensions = size / 8;
  level.data = *data;
  FOREBAY_TRY(const Bytes bytes, look.values(boxes, kMostBytes));
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    const auto box = one_box(std::span(bytes).subspan(at, size));
    if (!box) return fail(ErrorKind::corrupt, fmt::format("{}/boxes has an impossible box", group), file.row->name);
    level.boxes.push_back(*box);
  }
  FOREBAY_TRY(level.offsets, integers_of(look, found.arrays.stored[*offsets]));
  if (level.boxes.empty() || level.offsets.size() != level.boxes.size() + 1)
    return fail(ErrorKind::corrupt, fmt::format("{} has not one offset for each box", group), file.row->name);
  const format::FileAttribute* domain = attributes.find(group, "prob_domain");
  const auto corners = domain != nullptr && domain->value.size() == size ? one_box(domain->value) : std::nullopt;
  level.domain = corners.value_or(level.boxes.front());
  for (const Corners& box : level.boxes)
    for (size_t d = 0; !corners && d < level.dimensions; ++d) {
      level.domain[d] = std::min(level.domain[d], box[d]);
      level.domain[level.dimensions + d] = std::max(level.domain[level.dimensions + d], box[level.dimensions + d]);
    }
  return level;
}

// The shape of a box with `ghosts` cells around it, z first.
Shape grown_shape(const Corners& box, int64_t ghosts) {
  Shape shape;
  for (size_t d = box.size() / 2; d-- > 0;)
    shape.push_back(static_cast<uint64_t>(box[box.size() / 2 + d] - box[d] + 1 + 2 * ghosts));
  return shape;
}

// How many ghost cells explain the elements of a box; nothing if no number of them does.
std::optional<int64_t> ghosts_of(const Corners& box, uint64_t elements, uint64_t components) {
  constexpr int64_t kMostGhosts = 32;
  for (int64_t ghosts = 0; ghosts <= kMostGhosts; ++ghosts) {
    uint64_t there = element_count(grown_shape(box, ghosts));
    if (!__builtin_mul_overflow(there, components, &there) && there == elements) return ghosts;
  }
  return {};
}

void place_amrex_box(const AmrexLevel& level, size_t number, uint32_t depth, std::span<const std::string> fields,
                     Gather& gather) {
  const Corners& box = level.boxes[number];
  const int64_t begin = level.offsets[number], end = level.offsets[number + 1];
  if (begin < 0 || end < begin) return gather.refuse(level.data, "has impossible offsets");
  const auto ghosts = ghosts_of(box, static_cast<uint64_t>(end - begin), fields.size());
  if (!ghosts) return gather.refuse(level.data, "has another number of values than its box and components");
  const Shape stored = grown_shape(box, *ghosts);
  for (size_t c = 0; c < fields.size(); ++c) {
    PlacedPart part{.field = fields[c], .level = depth, .global = {}, .place = {}, .stored = {}};
    part.stored.array = level.data;
    part.stored.flat = static_cast<uint64_t>(begin) + c * element_count(stored);
    part.stored.shape = stored;
    part.stored.begin = Shape(level.dimensions, static_cast<uint64_t>(*ghosts));
    part.place.count = grown_shape(box, 0);
    part.global = grown_shape(level.domain, 0);
    for (size_t d = level.dimensions; d-- > 0;) {
      if (box[d] < level.domain[d]) return gather.refuse(level.data, "lies outside of the domain");
      part.place.begin.push_back(static_cast<uint64_t>(box[d] - level.domain[d]));
    }
    if (!gather.add(std::move(part))) return;
  }
}

std::vector<std::string> amrex_fields(const format::FileAttributes& attributes) {
  std::vector<std::string> fields;
  const auto count = integers_of(attributes.find("/", "num_components"));
  if (!count || count->size() != 1 || count->front() < 1 || count->front() > 4096) return fields;
  for (int64_t c = 0; c < count->front(); ++c) {
    const auto name = texts_of(attributes.find("/", fmt::format("component_{}", c)));
    fields.push_back(name.empty() || name.front().empty() ? fmt::format("component_{}", c) : name.front());
  }
  return fields;
}

}  // namespace

Result<bool> recognise_amrex_hdf5(const SetLook& look, Recognised& found) {
  Gather gather(look.set(), found);
  std::optional<double> time;
  for (const SetFile& file : found.files) {
    if (!file.find("/level_0/boxes") || !file.find("/level_0/data:datatype=0")) continue;
    const auto attributes = look.attributes(file.container, file.file);
    if (!attributes) return not_placed(attributes.error(), "AMReX", found);
    const auto fields = amrex_fields(*attributes);
    if (fields.empty()) continue;
    for (uint32_t depth = 0; depth <= kDeepestLevel && file.find(fmt::format("/level_{}/boxes", depth)); ++depth) {
      const auto level = read_amrex_level(look, found, file, *attributes, fmt::format("/level_{}", depth));
      if (!level) return not_placed(level.error(), "AMReX", found);
      for (size_t box = 0; box < level->boxes.size(); ++box) place_amrex_box(*level, box, depth, fields, gather);
    }
    if (const auto now = reals_of(attributes->find("/", "time")); now && now->size() == 1) time = now->front();
  }
  if (!gather.finish()) return false;
  found.time = time;
  return true;
}

}  // namespace forebay::view
