#include "engine/pack/running_cubes.h"

#include <algorithm>

namespace forebay::engine {
namespace {

constexpr uint64_t kBytesOfCube = sizeof(container::Cube) + 4 * sizeof(uint64_t);  // in the end as columns, too

// The variables that may have cubes, rising.
std::vector<uint32_t> candidates(const merge::Plan& plan) {
  const Catalogue& catalogue = plan.catalogue();
  std::vector<uint32_t> variables;
  for (const merge::FrameGroup& group : plan.groups()) {
    if (group.block_bytes != 0) continue;
    for (const merge::Stream& stream : group.streams)
      if (stream.variable < merge::kSkeleton &&
          container::can_have_cubes(catalogue, catalogue.variables[stream.variable]))
        variables.push_back(stream.variable);
  }
  std::ranges::sort(variables);
  return variables;
}

}  // namespace

RunningCubes::RunningCubes(const merge::Plan& plan, uint64_t max_bytes) {
  const Catalogue& catalogue = plan.catalogue();
  const auto count_of = [&](uint32_t variable) {
    return container::cube_grid(catalogue.shapes[catalogue.variables[variable].shape]).cubes();
  };
  const std::vector<uint32_t> variables = candidates(plan);
  uint64_t bytes = 0;
  for (const uint32_t variable : variables)
    bytes += count_of(variable) * kBytesOfCube + sizeof(container::VariableCubes);
  if (bytes > max_bytes) return;
  bytes_ = bytes;
  for (const uint32_t variable : variables)
    cubes_.push_back({variable, std::vector<container::Cube>(count_of(variable))});
}

std::vector<container::VariableCubes>::const_iterator RunningCubes::find(uint32_t variable) const {
  const auto at = std::ranges::lower_bound(cubes_, variable, {}, &container::VariableCubes::variable);
  return at != cubes_.end() && at->variable == variable ? at : cubes_.end();
}

void RunningCubes::add(uint32_t variable, const container::CubeStretch& stretch) {
  auto& cubes = cubes_[static_cast<size_t>(find(variable) - cubes_.begin())].cubes;
  for (size_t i = 0; i < stretch.cubes.size(); ++i) cubes[stretch.first + i].merge(stretch.cubes[i]);
}

}  // namespace forebay::engine
