// The gas of a block, step by step.
#pragma once

#include "block.h"

namespace mini_sim {

// The longest time step that all ranks can take. Collective, as is advance().
double stable_time_step(const Block& block);

// Takes the gas from `step` to the next.
void advance(Block& block, int step, double dt);

}  // namespace mini_sim
