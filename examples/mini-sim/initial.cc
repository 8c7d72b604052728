#include "initial.h"

#include <cmath>
#include <numbers>

namespace mini_sim {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// A wave along a direction, whose components are whole numbers so that it is periodic.
double wave(const std::array<double, 3>& place, const Triple& number, double phase) {
  double turns = phase;
  for (int axis = 0; axis < 3; ++axis) turns += number[axis] * place[axis];
  return std::sin(kTurn * turns);
}

}  // namespace

void explode(Block& block) {
  constexpr double kRadius = 0.12, kHot = 10.0, kCold = 1e-2;
  block.for_each_cell([&](const Triple& at) {
    const std::array<double, 3> place = block.place(at);
    double r2 = 0, waves = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double x = place[axis];
      r2 += (x - 0.5) * (x - 0.5);
      waves += std::sin(kTurn * (axis + 1) * x + axis) + 0.3 * std::sin(kTurn * (7 + axis) * x);
    }
    const bool hot = r2 < kRadius * kRadius;
    Cell cell{};
    cell[kDensity] = 1 + 0.1 * waves;
    cell[kEnergy] = (hot ? kHot : kCold) / (kGamma - 1);
    cell[hot ? kEjecta : kAmbient] = cell[kDensity];
    block.set_cell(at, cell);
  });
}

void stir(Block& block) {
  constexpr double kInitialPressure = 0.6;
  block.for_each_cell([&](const Triple& at) {
    const std::array<double, 3> place = block.place(at);
    Cell cell{};
    cell[kDensity] = 1 + 0.2 * wave(place, {1, 2, -1}, 0.1) + 0.1 * wave(place, {-3, 1, 2}, 0.6);
    double kinetic = 0;
    for (int axis = 0; axis < 3; ++axis) {
      // Each component varies only across itself, so the gas is not compressed at first.
      double velocity = 0;
      for (int n = 1; n <= 4; ++n) {
        Triple number{};
        number[(axis + 1) % 3] = n;
        number[(axis + 2) % 3] = 3 - n;
        velocity += wave(place, number, 0.37 * n + 0.21 * axis) / n;
      }
      cell[kMomentumX + axis] = cell[kDensity] * velocity;
      kinetic += 0.5 * cell[kDensity] * velocity * velocity;
    }
    cell[kEnergy] = kInitialPressure / (kGamma - 1) + kinetic;
    cell[kEjecta] = cell[kDensity] * (0.5 + 0.4 * wave(place, {2, -1, 1}, 0.3));
    cell[kAmbient] = cell[kDensity] - cell[kEjecta];
    block.set_cell(at, cell);
  });
}

}  // namespace mini_sim
