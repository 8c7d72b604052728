#include "engine/pack/interleave.h"

#include <algorithm>

#include "codec/chain.h"
#include "engine/set/frame_io.h"
#include "merge/plan.h"

namespace forebay::engine {
namespace {

constexpr uint64_t kFramesWorthTrying = 8;
constexpr double kMargin = 0.98;  // interleaving must win by 2 %: it costs predictors their neighbours
constexpr uint64_t kStreams = 8;

// The first frame of a plan for the group's sample streams alone, encoded.
Result<uint64_t> encoded_bytes(const Catalogue& sample, const PlanSpec& spec, const codec::Profile& profile,
                               Sources& sources) {
  FOREBAY_TRY(const merge::Plan plan, merge::Plan::make(sample, spec));
  uint64_t bytes = 0;
  const merge::FrameGroup& group = plan.groups().front();
  for (uint32_t number = group.first_frame; number < group.first_frame + group.frame_count; ++number) {
    FOREBAY_TRY(const RawFrame raw, gather(plan, number, sources));
    const FrameShape shape = plan.shape(plan.frames()[number], raw.slices);
    bytes += profile.encode(shape, raw.raw.span()).encoded.payload.size();
  }
  return bytes;
}

// The whole planes at the beginning of a variable that amount to about `bytes`, as a variable of its own.
Variable beginning(const Catalogue& catalogue, const VariableRow& row, uint64_t bytes) {
  Variable part{.path = catalogue.paths[row.path], .type = row.type, .shape = catalogue.shapes[row.block]};
  uint64_t plane = row.type.size;
  for (size_t i = 1; i < part.shape.size(); ++i) plane *= part.shape[i];
  if (!part.shape.empty()) part.shape[0] = std::clamp<uint64_t>(bytes / plane, 1, part.shape[0]);
  const Extent first = catalogue.extents_of(row).front();
  part.extents = {{first.offset, element_count(part.shape) * row.type.size}};
  return part;
}

// A catalogue of the beginnings of up to kStreams variables of group `key`, of different files.
Catalogue sample_of(const Catalogue& catalogue, uint32_t key, uint64_t bytes) {
  Catalogue sample;
  uint64_t taken = 0;
  for (const FileRow& file : catalogue.files) {
    Layout layout{.format = file.format};
    for (const VariableRow& row : catalogue.variables_of(file)) {
      if (row.key != key || taken == kStreams || !layout.variables.empty()) continue;
      layout.variables.push_back(beginning(catalogue, row, bytes / kStreams));
      ++taken;
    }
    FileRow copy = file;
    sample.add(std::move(copy), layout, std::vector<std::string>(layout.variables.size(), "sample"));
  }
  return sample;
}

}  // namespace

Result<std::vector<uint64_t>> choose_interleaving(const Catalogue& catalogue, const PlanSpec& spec,
                                                  const codec::Profile& profile, Sources& sources) {
  std::vector<uint64_t> bytes(catalogue.keys.size(), 0), blocks(catalogue.keys.size(), 0);
  std::vector<bool> eligible(catalogue.keys.size(), true);
  for (const VariableRow& variable : catalogue.variables) {
    bytes[variable.key] += catalogue.bytes_of(variable);
    if (variable.filtered) eligible[variable.key] = false;
  }
  for (uint32_t key = 0; key < blocks.size(); ++key) {
    if (!eligible[key] || bytes[key] < kFramesWorthTrying * spec.frame_bytes) continue;
    const Catalogue sample = sample_of(catalogue, key, spec.frame_bytes);
    PlanSpec trial{
        .scheme = Scheme::aware, .block_bytes = spec.block_bytes, .frame_bytes = spec.frame_bytes, .share_bytes = 0};
    FOREBAY_TRY(const uint64_t concatenated, encoded_bytes(sample, trial, profile, sources));
    trial.scheme = Scheme::aware_block;
    FOREBAY_TRY(const uint64_t interleaved, encoded_bytes(sample, trial, profile, sources));
    if (static_cast<double>(interleaved) < kMargin * static_cast<double>(concatenated)) blocks[key] = spec.block_bytes;
  }
  if (std::ranges::all_of(blocks, [](uint64_t block) { return block == 0; })) blocks.clear();
  return blocks;
}

}  // namespace forebay::engine
