// The cells of a run of blocks that stencils are fitted to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/fitted/fitted.h"
#include "codec/fitted/fitted_arithmetic.h"

namespace forebay::codec::fitted {

// The elements of a run of blocks.
struct Place {
  LorenzoArray array;
  const std::byte* elements;
};

class SampleOrder {  // xorshift64* (Marsaglia 2003; Vigna 2016)
 public:
  size_t below(size_t bound) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<size_t>((state_ * 0x2545f4914f6cdd1d >> 32) % bound);
  }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15;
};

// The taps and the target.
inline constexpr size_t kColumns = kLeftTaps + kVolumeTaps + 1;

// Cells with what predicts them. A row of `columns`: the differences to the element above of the elements at the taps,
// then the cell's own.
struct Samples {
  Samples(size_t tap_count, size_t most) : taps(tap_count) {
    columns.reserve(most * kColumns);
    above.reserve(most);
    integers.reserve(most);
  }

  size_t taps;
  std::vector<double> columns;  // kColumns each
  std::vector<double> above;
  std::vector<uint64_t> integers;  // of the cells

  size_t count() const { return above.size(); }
  const double* row(size_t i) const { return columns.data() + i * kColumns; }
};

// Where a sampled cell is, and how far its neighbours are in elements.
struct Cell {
  const std::byte* at;
  ptrdiff_t up, up2, back, back2;  // distances to the rows before; of planes only the first two
};

template <class E>
class Sampler {
 public:
  using A = FittedArithmetic<E>;
  using U = typename E::Unsigned;

  explicit Sampler(std::span<const Place> places) : places_(places) {}

  Samples volumes(size_t count) {
    Samples samples(kLeftTaps + kVolumeTaps, count);
    for (size_t i = 0; i < count; ++i) {
      const Place& place = places_[random_.below(places_.size())];
      const auto& d = place.array.dims;
      const size_t y = 2 + random_.below(d[2] - 3), z = inner(d[1]);
      const auto row = static_cast<ptrdiff_t>(d[3]), plane = static_cast<ptrdiff_t>(d[3] * d[2]);
      take(samples,
           {cell(place, z, y), row, 2 * row, plane, plane * std::min<ptrdiff_t>(static_cast<ptrdiff_t>(z), 2)});
    }
    return samples;
  }

  // From the first planes, and of volumes as many from the planes of first rows.
  Samples planes(size_t count, bool faces) {
    Samples samples(kLeftTaps + kPlaneTaps, count);
    for (size_t i = 0; i < count; ++i) {
      const Place& place = places_[random_.below(places_.size())];
      const auto& d = place.array.dims;
      const auto row = static_cast<ptrdiff_t>(d[3]), plane = static_cast<ptrdiff_t>(d[3] * d[2]);
      if (faces && i % 2 == 1) {
        const size_t z = inner(d[1]);
        take(samples, {cell(place, z, 0), plane, plane * std::min<ptrdiff_t>(static_cast<ptrdiff_t>(z), 2), 0, 0});
      } else {
        take(samples, {cell(place, 0, inner(d[2])), row, 2 * row, 0, 0});
      }
    }
    return samples;
  }

 private:
  // An index with two before it, if there are so many.
  size_t inner(size_t count) { return count > 2 ? 2 + random_.below(count - 2) : 1; }

  const std::byte* cell(const Place& place, size_t z, size_t y) {
    const auto& d = place.array.dims;
    const size_t w = random_.below(d[0]), x = 2 + random_.below(d[3] - 4);
    return place.elements + (((w * d[1] + z) * d[2] + y) * d[3] + x) * sizeof(U);
  }

  void take(Samples& samples, const Cell& cell) {
    constexpr double kMost = 1e100;  // so that squares and their sums stay finite
    const auto element = [&](ptrdiff_t distance) {
      return A::element(cell.at + distance * static_cast<ptrdiff_t>(sizeof(U)));
    };
    const ptrdiff_t rows[kStencilRows] = {cell.up,   cell.up2, cell.back + cell.up, cell.back, cell.back - cell.up,
                                          cell.back2};
    const double above = element(-cell.up);
    double columns[kColumns] = {};
    columns[0] = element(-1) - above;
    columns[1] = element(-2) - above;
    for (size_t k = 0; k + kLeftTaps < samples.taps; ++k)
      columns[kLeftTaps + k] = element(kTaps[k].dx - rows[kTaps[k].row]) - above;
    columns[samples.taps] = element(0) - above;
    if (!std::ranges::all_of(columns, [&](double value) { return std::abs(value) < kMost; })) return;
    samples.columns.insert(samples.columns.end(), std::begin(columns), std::end(columns));
    samples.above.push_back(above);
    samples.integers.push_back(E::load(cell.at));
  }

  std::span<const Place> places_;
  SampleOrder random_;
};

}  // namespace forebay::codec::fitted
