#include "merge/groups.h"

#include <map>

namespace forebay::merge {
namespace {

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

void add(FrameGroup& group, const Stream& stream) {
  if (stream.bytes == 0) return;
  group.streams.push_back(stream);
  group.bytes += stream.bytes;
}

FrameGroup whole_files(const Catalogue& catalogue, const PlanSpec& spec) {
  FrameGroup group{.type = kBytes, .block_bytes = spec.scheme == Scheme::agnostic_block ? spec.block_bytes : 0};
  for (uint32_t file = 0; file < catalogue.files.size(); ++file)
    add(group, {file, kWholeFile, catalogue.files[file].size});
  return group;
}

// What codecs are to see: the variable's type, or bytes where the extents do not hold plain elements.
DataType frame_type(const VariableRow& variable) { return variable.filtered ? kBytes : variable.type; }

std::vector<FrameGroup> by_key(const Catalogue& catalogue) {
  std::vector<FrameGroup> groups(catalogue.keys.size());
  for (uint32_t file = 0; file < catalogue.files.size(); ++file) {
    const FileRow& row = catalogue.files[file];
    for (uint32_t i = row.first_variable; i < row.first_variable + row.variable_count; ++i) {
      const VariableRow& variable = catalogue.variables[i];
      FrameGroup& group = groups[variable.key];
      const DataType type = frame_type(variable);
      group.type = group.streams.empty() || group.type == type ? type : kBytes;
      add(group, {file, i, catalogue.bytes_of(variable)});
    }
  }
  return groups;
}

uint64_t block_of_key(const PlanSpec& spec, size_t key) {
  if (spec.scheme == Scheme::aware_block) return spec.block_bytes;
  return spec.key_block_bytes.empty() ? 0 : spec.key_block_bytes[key];
}

FrameGroup skeleton_group(const std::vector<std::vector<Extent>>& skeletons) {
  FrameGroup group{.type = kBytes};
  for (uint32_t file = 0; file < skeletons.size(); ++file) {
    uint64_t bytes = 0;
    for (const Extent& extent : skeletons[file]) bytes += extent.length;
    add(group, {file, kSkeleton, bytes});
  }
  return group;
}

}  // namespace

std::vector<FrameGroup> make_groups(const Catalogue& catalogue, const PlanSpec& spec,
                                    const std::vector<std::vector<Extent>>& skeletons) {
  std::vector<FrameGroup> groups;
  const auto keep = [&](FrameGroup&& group) {
    if (group.bytes != 0) groups.push_back(std::move(group));
  };
  if (spec.scheme == Scheme::agnostic || spec.scheme == Scheme::agnostic_block) {
    keep(whole_files(catalogue, spec));
    return groups;
  }
  std::map<DataType, FrameGroup> shared;
  std::vector<FrameGroup> keyed = by_key(catalogue);
  for (size_t key = 0; key < keyed.size(); ++key) {
    FrameGroup& group = keyed[key];
    if (group.bytes < spec.share_bytes) {
      FrameGroup& pool = shared.try_emplace(group.type, FrameGroup{.type = group.type}).first->second;
      for (const Stream& stream : group.streams) add(pool, stream);
    } else {
      const uint64_t block = block_of_key(spec, key);
      group.block_bytes = block == 0 ? 0 : round_up(block, group.type.size);
      keep(std::move(group));
    }
  }
  for (auto& [type, group] : shared) keep(std::move(group));
  keep(skeleton_group(skeletons));
  return groups;
}

}  // namespace forebay::merge
