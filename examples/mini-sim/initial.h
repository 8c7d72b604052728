// What the gas looks like at first.
#pragma once

#include "block.h"

namespace mini_sim {

// A hot ball of ejecta in the middle of a gas at rest, whose density varies smoothly (L. I. Sedov's point explosion,
// but with something to run into).
void explode(Block& block);

// Gas that moves everywhere, at up to a few times the speed of sound, and carries unevenly mixed ejecta: eddies of a
// few sizes, which soon steepen and break up. Periodic.
void stir(Block& block);

}  // namespace mini_sim
