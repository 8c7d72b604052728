#include "gas.h"

#include <algorithm>

namespace mini_sim {
namespace {

void sweep(Block& block, int axis, double dt) {
  block.exchange(axis);
  const Triple& n = block.cells();
  const int second = (axis + 1) % 3, third = (axis + 2) % 3;
  std::vector<Cell> line(n[axis] + 2 * kGhosts);
  Triple at{};
  for (at[third] = kGhosts; at[third] < n[third] + kGhosts; ++at[third])
    for (at[second] = kGhosts; at[second] < n[second] + kGhosts; ++at[second]) {
      for (size_t i = 0; i < line.size(); ++i) {
        at[axis] = static_cast<int>(i);
        line[i] = block.cell(at);
      }
      sweep_line(line, axis, dt * block.global_cells());
      for (size_t i = kGhosts; i + kGhosts < line.size(); ++i) {
        at[axis] = static_cast<int>(i);
        block.set_cell(at, line[i]);
      }
    }
}

}  // namespace

double stable_time_step(const Block& block) {
  constexpr double kCourant = 0.4;
  double fastest = 0;
  block.for_each_cell([&](const Triple& at) { fastest = std::max(fastest, fastest_signal(block.cell(at))); });
  std::vector<MPI_Request> request(1);
  MPI_Iallreduce(MPI_IN_PLACE, &fastest, 1, MPI_DOUBLE, MPI_MAX, block.cube(), request.data());
  wait_all(request);
  return kCourant / (block.global_cells() * fastest);
}

void advance(Block& block, int step, double dt) {
  // The order of the axes turns around every step, which keeps the split scheme of second order (Strang).
  for (int i = 0; i < 3; ++i) sweep(block, step % 2 == 0 ? i : 2 - i, dt);
}

}  // namespace mini_sim
