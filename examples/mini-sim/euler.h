// The compressible Euler equations with passively advected species, along one line of cells.
#pragma once

#include <array>
#include <span>

namespace mini_sim {

inline constexpr double kGamma = 5.0 / 3.0;
inline constexpr int kGhosts = 2;  // layers that a sweep needs on each side of the cells it updates

// The fields of a cell as they are kept, exchanged and written: densities of mass, momentum, energy and species.
enum Field : int { kDensity, kMomentumX, kMomentumY, kMomentumZ, kEnergy, kEjecta, kAmbient, kFields };
using Cell = std::array<double, kFields>;

// The fastest signal in the cell, |velocity| + sound speed, over the three axes.
double fastest_signal(const Cell& cell);

// Advances a line of cells along `axis` (0: x, 1: y, 2: z) by a time step, given as dt / dx. The first and the last
// kGhosts cells are read only. Second order: MUSCL-Hancock with the minmod limiter and the HLLC flux (E. F. Toro,
// Riemann Solvers and Numerical Methods for Fluid Dynamics, 3rd ed., sections 14.4 and 10.4).
void sweep_line(std::span<Cell> line, int axis, double dt_over_dx);

}  // namespace mini_sim
