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

// The square of the distance from the cube's middle.
double from_middle(const std::array<double, 3>& place) {
  double r2 = 0;
  for (const double x : place) r2 += (x - 0.5) * (x - 0.5);
  return r2;
}

}  // namespace

void explode(Block& block) {
  constexpr double kRadius = 0.12, kHot = 10.0, kCold = 1e-2;
  block.for_each_cell([&](const Triple& at) {
    const std::array<double, 3> place = block.place(at);
    double waves = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double x = place[axis];
      waves += std::sin(kTurn * (axis + 1) * x + axis) + 0.3 * std::sin(kTurn * (7 + axis) * x);
    }
    const bool hot = from_middle(place) < kRadius * kRadius;
    Cell cell{};
    cell[kDensity] = 1 + 0.1 * waves;
    cell[kEnergy] = (hot ? kHot : kCold) / (kGamma - 1);
    cell[hot ? kEjecta : kAmbient] = cell[kDensity];
    block.set_cell(at, cell);
  });
}

void explode_at_a_point(Block& block) {
  constexpr double kEnergyOfAll = 1.0, kCold = 1e-5;
  const double width = 1.0 / block.global_cells(), radius = 2 * width;
  const auto is_hot = [&](const Triple& at) { return from_middle(block.place(at)) < radius * radius; };
  int hot_cells = 0;
  block.for_each_cell([&](const Triple& at) { hot_cells += is_hot(at); });
  std::vector<MPI_Request> request(1);
  MPI_Iallreduce(MPI_IN_PLACE, &hot_cells, 1, MPI_INT, MPI_SUM, block.cube(), request.data());
  wait_all(request);
  block.for_each_cell([&](const Triple& at) {
    const bool hot = is_hot(at);
    Cell cell{};
    cell[kDensity] = 1;
    cell[kEnergy] = hot ? kEnergyOfAll / (hot_cells * width * width * width) : kCold / (kGamma - 1);
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
