#include "particles.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace mini_sim {
namespace {

// The cell along `axis` in which a particle is, in the whole cube; -1 or the number of cells if it has just left it.
int cell_of(const Particle& particle, const Block& block, int axis) {
  return static_cast<int>(std::floor(particle.position[axis] * block.global_cells()));
}

// -1: on the low side of the block, 0: within, 1: on its high side.
int side_of(const Particle& particle, const Block& block, int axis) {
  const int cell = cell_of(particle, block, axis);
  if (cell < block.first()[axis]) return -1;
  return cell < block.first()[axis] + block.cells()[axis] ? 0 : 1;
}

// Into [0, 1). A tiny negative position would be rounded to 1.
double wrapped(double position) { return std::min(position - std::floor(position), std::nextafter(1.0, 0.0)); }

void move(Particle& particle, const Block& block, double dt) {
  Triple at;
  for (int axis = 0; axis < 3; ++axis) at[axis] = cell_of(particle, block, axis) - block.first()[axis] + kGhosts;
  const Cell cell = block.cell(at);
  for (int axis = 0; axis < 3; ++axis) {
    particle.velocity[axis] = cell[kMomentumX + axis] / cell[kDensity];
    particle.position[axis] += particle.velocity[axis] * dt;
  }
}

// Sends `leaving` to the neighbours on the low and the high side along `axis`, and appends to `particles` what they
// send.
void swap_with_neighbours(Particles& particles, const Block& block, int axis, std::array<Particles, 2>& leaving) {
  std::array<int, 2> sizes{}, incoming{};
  std::vector<MPI_Request> requests(4);
  for (const int side : {0, 1}) {
    sizes[side] = static_cast<int>(leaving[side].size() * sizeof(Particle));
    const int neighbour = block.neighbour(side, axis);
    // What one sends to its high side (tag 1) the other receives on its low side.
    MPI_Irecv(&incoming[side], 1, MPI_INT, neighbour, 1 - side, block.cube(), &requests[side]);
    MPI_Isend(&sizes[side], 1, MPI_INT, neighbour, side, block.cube(), &requests[2 + side]);
  }
  wait_all(requests);
  std::array<Particles, 2> arriving;
  for (const int side : {0, 1}) {
    arriving[side].resize(static_cast<size_t>(incoming[side]) / sizeof(Particle));
    const int neighbour = block.neighbour(side, axis);
    MPI_Irecv(arriving[side].data(), incoming[side], MPI_BYTE, neighbour, 1 - side, block.cube(), &requests[side]);
    MPI_Isend(leaving[side].data(), sizes[side], MPI_BYTE, neighbour, side, block.cube(), &requests[2 + side]);
  }
  wait_all(requests);
  for (const Particles& group : arriving) particles.insert(particles.end(), group.begin(), group.end());
}

void hand_over(Particles& particles, const Block& block, int axis) {
  std::array<Particles, 2> leaving;
  Particles staying;
  for (Particle& particle : particles) {
    const int side = side_of(particle, block, axis);
    particle.position[axis] = block.periodic() ? wrapped(particle.position[axis]) : particle.position[axis];
    (side == 0 ? staying : leaving[side == 1]).push_back(particle);
  }
  particles = std::move(staying);
  swap_with_neighbours(particles, block, axis, leaving);
}

}  // namespace

Particles scatter(const Block& block, int64_t count) {
  // The additive sequence of the powers of 1 / x with x^4 = x + 1, which is spread evenly in three dimensions
  // (M. Roberts, The unreasonable effectiveness of quasirandom sequences, 2018).
  constexpr double kStep = 1 / 1.2207440846057596;
  Particles particles;
  for (int64_t id = 0; id < count; ++id) {
    Particle particle{.id = id};
    double step = 1;
    bool here = true;
    for (int axis = 0; axis < 3; ++axis) {
      step *= kStep;
      particle.position[axis] = wrapped(0.5 + static_cast<double>(id) * step);
      here = here && side_of(particle, block, axis) == 0;
    }
    if (here) particles.push_back(particle);
  }
  return particles;
}

void carry(Particles& particles, const Block& block, double dt) {
  for (Particle& particle : particles) move(particle, block, dt);
  for (int axis = 0; axis < 3; ++axis) hand_over(particles, block, axis);
  std::ranges::sort(particles, {}, &Particle::id);
}

}  // namespace mini_sim
