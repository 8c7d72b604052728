#include "euler.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace mini_sim {
namespace {

constexpr double kSmallest = 1e-10;  // of density and pressure, where a strong rarefaction would make them negative

// The same slots as in Cell, holding velocities, pressure and mass fractions in place of their densities.
using Primitive = Cell;
constexpr int kPressure = kEnergy;

double square(double x) { return x * x; }

double kinetic(const Cell& cell) {
  return 0.5 * (square(cell[kMomentumX]) + square(cell[kMomentumY]) + square(cell[kMomentumZ])) / cell[kDensity];
}

Primitive to_primitive(const Cell& cell) {
  Primitive w;
  w[kDensity] = cell[kDensity];
  for (int i = kMomentumX; i < kFields; ++i) w[i] = cell[i] / cell[kDensity];
  w[kPressure] = std::max((kGamma - 1) * (cell[kEnergy] - kinetic(cell)), kSmallest);
  return w;
}

Cell to_conserved(const Primitive& w) {
  Cell cell;
  cell[kDensity] = w[kDensity];
  for (int i = kMomentumX; i < kFields; ++i) cell[i] = w[i] * w[kDensity];
  cell[kEnergy] = w[kPressure] / (kGamma - 1) + kinetic(cell);
  return cell;
}

double sound_speed(const Primitive& w) { return std::sqrt(kGamma * w[kPressure] / w[kDensity]); }

double minmod(double a, double b) {
  if (a * b <= 0) return 0;
  return std::abs(a) < std::abs(b) ? a : b;
}

// The states at the low and the high face of a cell, half a time step on. `normal` is the momentum slot of the axis.
std::pair<Primitive, Primitive> face_states(const Primitive& low, const Primitive& here, const Primitive& high,
                                            int normal, double dt_over_dx) {
  Primitive slope;
  for (int i = 0; i < kFields; ++i) slope[i] = minmod(here[i] - low[i], high[i] - here[i]);

  const double u = here[normal];
  Primitive change;
  for (int i = 0; i < kFields; ++i) change[i] = u * slope[i];
  change[kDensity] += here[kDensity] * slope[normal];
  change[normal] += slope[kPressure] / here[kDensity];
  change[kPressure] += kGamma * here[kPressure] * slope[normal];

  std::pair<Primitive, Primitive> faces;
  for (int i = 0; i < kFields; ++i) {
    const double middle = here[i] - 0.5 * dt_over_dx * change[i];
    faces.first[i] = middle - 0.5 * slope[i];
    faces.second[i] = middle + 0.5 * slope[i];
  }
  for (Primitive* face : {&faces.first, &faces.second})
    if ((*face)[kDensity] < kSmallest || (*face)[kPressure] < kSmallest) *face = here;
  return faces;
}

Cell physical_flux(const Primitive& w, const Cell& cell, int normal) {
  Cell flux;
  for (int i = 0; i < kFields; ++i) flux[i] = w[normal] * cell[i];
  flux[normal] += w[kPressure];
  flux[kEnergy] += w[normal] * w[kPressure];
  return flux;
}

// The flux through the face between the states `left` and `right`: HLLC, three waves.
Cell hllc_flux(const Primitive& left, const Primitive& right, int normal) {
  const double slowest = std::min(left[normal] - sound_speed(left), right[normal] - sound_speed(right));
  const double fastest = std::max(left[normal] + sound_speed(left), right[normal] + sound_speed(right));
  const double mass_left = left[kDensity] * (slowest - left[normal]);
  const double mass_right = right[kDensity] * (fastest - right[normal]);
  const double contact = (right[kPressure] - left[kPressure] + left[normal] * mass_left - right[normal] * mass_right) /
                         (mass_left - mass_right);

  const bool from_left = contact >= 0;
  const Primitive& w = from_left ? left : right;
  const double wave = from_left ? slowest : fastest;
  const Cell cell = to_conserved(w);
  Cell flux = physical_flux(w, cell, normal);
  if (from_left ? slowest >= 0 : fastest <= 0) return flux;

  const double density = w[kDensity] * (wave - w[normal]) / (wave - contact);
  Cell star;
  for (int i = 0; i < kFields; ++i) star[i] = density * w[i];
  star[kDensity] = density;
  star[normal] = density * contact;
  star[kEnergy] = density * (cell[kEnergy] / w[kDensity] +
                             (contact - w[normal]) * (contact + w[kPressure] / (w[kDensity] * (wave - w[normal]))));
  for (int i = 0; i < kFields; ++i) flux[i] += wave * (star[i] - cell[i]);
  return flux;
}

}  // namespace

double fastest_signal(const Cell& cell) {
  const Primitive w = to_primitive(cell);
  const double speed = std::max({std::abs(w[kMomentumX]), std::abs(w[kMomentumY]), std::abs(w[kMomentumZ])});
  return speed + sound_speed(w);
}

void sweep_line(std::span<Cell> line, int axis, double dt_over_dx) {
  const int normal = kMomentumX + axis;
  const size_t cells = line.size();
  std::vector<Primitive> w(cells);
  std::ranges::transform(line, w.begin(), to_primitive);

  // Face i lies between the cells i - 1 and i.
  Primitive left_of_face = face_states(w[0], w[1], w[2], normal, dt_over_dx).second;
  Cell flux_in{};
  for (size_t i = kGhosts; i + 1 < cells; ++i) {
    const auto [low, high] = face_states(w[i - 1], w[i], w[i + 1], normal, dt_over_dx);
    const Cell flux_out = hllc_flux(left_of_face, low, normal);
    if (i > kGhosts)
      for (int f = 0; f < kFields; ++f) line[i - 1][f] += dt_over_dx * (flux_in[f] - flux_out[f]);
    flux_in = flux_out;
    left_of_face = high;
  }
  for (Cell& cell : line.subspan(kGhosts, cells - 2 * kGhosts)) {
    cell[kDensity] = std::max(cell[kDensity], kSmallest);
    cell[kEnergy] = std::max(cell[kEnergy], kinetic(cell) + kSmallest / (kGamma - 1));
  }
}

}  // namespace mini_sim
