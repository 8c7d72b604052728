#include "frame_set.h"

#include "engine/cpu_clock.h"
#include "engine/pack/interleave.h"
#include "engine/pack/pack.h"
#include "engine/pack/read_group.h"

namespace forebay::bench {

Result<FrameSet> FrameSet::load(const engine::SourceTree& tree, uint64_t group_size, const codec::Profile& profile) {
  FrameSet set;
  for (const engine::FileRange& range : engine::rank_groups(tree, group_size)) {
    const auto files = std::span(tree.files).subspan(range.first, range.last - range.first);
    auto& group = *set.groups_.emplace_back(std::make_unique<Group>(files));
    FOREBAY_CHECK(set.plan(group, files, profile));
    FOREBAY_CHECK(set.gather(group));
  }
  return set;
}

Result<void> FrameSet::plan(Group& group, std::span<const engine::SourceFile> files, const codec::Profile& profile) {
  const engine::Resources resources = engine::Resources{.threads = 1}.resolved();
  FOREBAY_TRY(auto read, engine::read_group(files, group.sources, {}, {}, resources.memory_bytes, resources.threads));
  group.catalogue = std::move(read.catalogue);
  PlanSpec spec{.frame_bytes = profile.frame_bytes()};
  const engine::CpuClock clock;
  FOREBAY_TRY(spec.key_block_bytes, engine::choose_interleaving(group.catalogue, spec, profile, group.sources));
  interleave_seconds_ += clock.seconds();
  FOREBAY_TRY(group.plan, merge::Plan::make(group.catalogue, spec));
  if (!profile.uses_relations()) return {};
  const engine::CpuClock search;
  FOREBAY_TRY(group.relations, engine::find_relations(group.plan, group.sources, [](uint32_t) { return true; }, {}));
  relations_seconds_ += search.seconds();
  return {};
}

Result<void> FrameSet::gather(Group& group) {
  for (uint32_t number = 0; number < group.plan.frames().size(); ++number) {
    FOREBAY_TRY(auto frame, engine::gather(group.plan, number, group.sources));
    group.frames.push_back(std::move(frame));
  }
  for (uint32_t number = 0; number < group.frames.size(); ++number) frames_.push_back(describe(group, number));
  return {};
}

LoadedFrame FrameSet::describe(const Group& group, uint32_t number) const {
  const merge::Frame& frame = group.plan.frames()[number];
  const merge::FrameGroup& members = group.plan.groups()[frame.group];
  LoadedFrame loaded{.raw = &group.frames[number],
                     .shape = group.plan.shape(frame, group.frames[number].slices),
                     .related = {},
                     .group = engine::key_of(group.plan, frame.group),
                     .is_data = members.streams.front().variable < merge::kSkeleton};
  if (loaded.group.empty()) loaded.group = loaded.is_data ? "small variables" : "skeletons";
  if (const auto* rule = group.relations.rule_of(frame.group)) loaded.related.parameters = rule->parameters;
  for (const uint32_t reference : group.relations.references(group.plan, number))
    loaded.related.references.push_back(group.frames[reference].raw.span());
  return loaded;
}

}  // namespace forebay::bench
