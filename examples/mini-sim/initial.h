// What the gas looks like at first.
#pragma once

#include "block.h"

namespace mini_sim {

// A hot ball of ejecta in the middle of a gas at rest, whose density varies smoothly.
void explode(Block& block);

// L. I. Sedov's point explosion: energy 1 in a few cells in the middle of a cold gas of density 1. The blast wave's
// radius grows as 1.15 (t^2)^(1/5), until it reaches the border. Collective.
void explode_at_a_point(Block& block);

// Gas that moves everywhere, at up to a few times the speed of sound, and carries unevenly mixed ejecta: eddies of a
// few sizes, which soon steepen and break up. Periodic.
void stir(Block& block);

}  // namespace mini_sim
