#include "engine/pack/set_before.h"

namespace forebay::engine {
namespace {

// Chains that can be tried: not of frames that were stored with loss, or lie in other sets.
std::vector<codec::Chain> parse_chains(const container::Index& index) {
  std::vector<codec::Chain> chains;
  for (const std::string& text : index.chains) {
    auto chain = codec::parse_chain(text);
    chains.push_back(chain ? *std::move(chain) : codec::Chain());
  }
  return chains;
}

}  // namespace

bool RememberedFrame::still_holds(uint64_t payload_bytes, uint64_t raw_bytes) const {
  constexpr double kSlack = 1.05;
  constexpr uint64_t kSlackBytes = 64;
  return static_cast<double>(payload_bytes) <= kSlack * share * static_cast<double>(raw_bytes) + kSlackBytes;
}

const RememberedFrame* Remembered::find(const merge::Plan& plan, uint32_t number) const {
  const uint32_t group_number = plan.frames()[number].group;
  const merge::FrameGroup& group = plan.groups()[group_number];
  const auto found = frames.find(key_of(plan, group_number));
  if (found == frames.end() || found->second.size() != group.frame_count) return nullptr;
  const RememberedFrame& frame = found->second[number - group.first_frame];
  return frame.chain.empty() ? nullptr : &frame;
}

SetBefore find_set_before(std::span<const store::SetInfo> sets, std::string_view profile, uint64_t ranks,
                          uint64_t group_size) {
  constexpr int64_t kChooseEvery = 8;
  SetBefore before;
  for (const store::SetInfo& set : sets) {
    if (!set.manifest || set.manifest->profile != profile || set.manifest->ranks != ranks ||
        set.manifest->group_size != group_size)
      continue;
    before = {.name = set.name, .since_chosen = set.manifest->since_chosen.value_or(0) + 1};
  }
  if (before.since_chosen.value_or(0) >= kChooseEvery) return {};
  return before;
}

Remembered remember(const store::SetFiles& set, const std::string& container_name, uint64_t memory_bytes) {
  Remembered remembered;
  const auto container = open_container(set, container_name, memory_bytes);
  if (!container) return remembered;
  remembered.relations = relations_of(*container);
  const merge::Plan& plan = *container->plan;
  const std::vector<codec::Chain> chains = parse_chains(container->index());
  for (uint32_t number = 0; number < plan.groups().size(); ++number) {
    const merge::FrameGroup& group = plan.groups()[number];
    const std::string key = key_of(plan, number);
    if (key.empty()) continue;
    auto& frames = remembered.frames[key];
    for (uint32_t i = group.first_frame; i < group.first_frame + group.frame_count; ++i) {
      const container::FrameEntry& entry = container->index().frames[i];
      frames.push_back({.chain = chains[entry.chain],
                        .share = static_cast<double>(entry.encoded_bytes) / static_cast<double>(entry.raw_bytes)});
    }
  }
  return remembered;
}

}  // namespace forebay::engine
