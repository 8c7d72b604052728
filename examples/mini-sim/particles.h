// Tracer particles, which the gas carries along from rank to rank.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "block.h"

namespace mini_sim {

struct Particle {
  int64_t id = 0;
  std::array<double, 3> position{};  // in sides of the cube
  std::array<double, 3> velocity{};  // with which it came here
};

// The particles within this rank's block, by rising id.
using Particles = std::vector<Particle>;

// Spreads `count` particles evenly over the whole cube, at rest.
Particles scatter(const Block& block, int64_t count);

// Carries the particles on with the gas of their cells, and hands those that leave the block to its neighbours. What
// leaves a closed cube is gone. In `dt`, nothing moves by more than the width of a block. Collective.
void carry(Particles& particles, const Block& block, double dt);

}  // namespace mini_sim
