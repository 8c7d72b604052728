#include "engine/pack/running_cubes.h"

#include <algorithm>

namespace forebay::engine {

RunningCubes::RunningCubes(const merge::Plan& plan) {
  const Catalogue& catalogue = plan.catalogue();
  for (const merge::FrameGroup& group : plan.groups()) {
    if (!wants_cubes(group)) continue;
    for (const merge::Stream& stream : group.streams) {
      if (stream.variable >= merge::kSkeleton) continue;
      const VariableRow& variable = catalogue.variables[stream.variable];
      if (!container::can_have_cubes(catalogue, variable)) continue;
      const uint64_t count = container::cube_grid(catalogue.shapes[variable.shape]).cubes();
      cubes_.push_back({stream.variable, std::vector<container::Cube>(count)});
    }
  }
  std::ranges::sort(cubes_, {}, &container::VariableCubes::variable);
}

void RunningCubes::add(const FrameFacts& facts) {
  for (const auto& [variable, stretch] : facts.cubes) {
    auto& cubes = std::ranges::lower_bound(cubes_, variable, {}, &container::VariableCubes::variable)->cubes;
    for (size_t i = 0; i < stretch.cubes.size(); ++i) cubes[stretch.first + i].merge(stretch.cubes[i]);
  }
}

uint64_t RunningCubes::memory_bytes() const {
  uint64_t bytes = cubes_.capacity() * sizeof(container::VariableCubes);
  for (const container::VariableCubes& variable : cubes_) bytes += variable.cubes.size() * sizeof(container::Cube);
  return bytes;
}

bool wants_cubes(const merge::FrameGroup& group) { return group.block_bytes == 0; }

}  // namespace forebay::engine
