// Work that keeps a core busy and talks to nobody, to see what it costs when something else runs beside it.
#pragma once

#include <cstdint>

namespace mini_sim {

// Always the same amount: some tenths of a millisecond on a core of its own.
void work(int64_t units);

// How many units take `seconds` on the slowest rank while all are at work. Collective.
int64_t units_for(double seconds);

}  // namespace mini_sim
