#include "container/cubes_kernel.h"

#include <algorithm>

namespace forebay::container {

namespace {

constexpr size_t kAtOnce = 8;

template <class T, bool kSwapped, size_t kWidth>
struct ExtremesLoop {
  using Doubles = Vector<double, kWidth>;
  using Integers = Vector<int64_t, kWidth>;
  static constexpr size_t kParts = kAtOnce / kWidth;
  static constexpr size_t kElementBytes = sizeof(Bits<T>);

  Doubles min[kParts], max[kParts];
  Integers nans = {};

  FOREBAY_INLINE ExtremesLoop() {
    for (size_t part = 0; part < kParts; ++part) {
      min[part] = Doubles{} + std::numeric_limits<double>::infinity();
      max[part] = Doubles{} - std::numeric_limits<double>::infinity();
    }
  }

  // Takes in eight elements.
  FOREBAY_INLINE void add(const std::byte* from) {
#pragma GCC unroll 8
    for (size_t part = 0; part < kParts; ++part) {
      Vector<Bits<T>, kWidth> bits;
      std::memcpy(&bits, from + part * kWidth * kElementBytes, sizeof bits);
      if constexpr (kSwapped) swap_bytes<Bits<T>, kWidth>(bits);
      Doubles values;
      widen<T, kWidth>(bits, values);
      min[part] = values < min[part] ? values : min[part];
      max[part] = values > max[part] ? values : max[part];
      if constexpr (!std::is_integral_v<T>) nans |= values != values;
    }
  }

  // An element may be taken in twice: what does not fill eight is done with those before it, or is repeated.
  FOREBAY_INLINE void add_row(const std::byte* from, size_t columns) {
    if (columns < kAtOnce) {
      std::byte row[kAtOnce * kElementBytes];
      for (size_t i = 0; i < kAtOnce; ++i)
        std::memcpy(row + i * kElementBytes, from + std::min(i, columns - 1) * kElementBytes, kElementBytes);
      add(row);
      return;
    }
    for (size_t i = 0; i + kAtOnce <= columns; i += kAtOnce) add(from + i * kElementBytes);
    if (columns % kAtOnce != 0) add(from + (columns - kAtOnce) * kElementBytes);
  }

  FOREBAY_INLINE Extremes result() const {
    Extremes all;
    for (size_t part = 0; part < kParts; ++part)
      for (size_t i = 0; i < kWidth; ++i) {
        all.min = std::min(all.min, min[part][i]);
        all.max = std::max(all.max, max[part][i]);
      }
    for (size_t i = 0; i < kWidth; ++i) all.has_nan = all.has_nan || nans[i] != 0;
    return all;
  }

  static FOREBAY_INLINE Extremes run(const std::byte* from, size_t columns, size_t rows, size_t row_bytes) {
    ExtremesLoop loop;
    for (size_t row = 0; row < rows; ++row) loop.add_row(from + row * row_bytes, columns);
    return loop.result();
  }
};

template <class T, bool kSwapped>
Extremes extremes_baseline(const std::byte* from, size_t columns, size_t rows, size_t row_bytes) {
  return ExtremesLoop<T, kSwapped, 2>::run(from, columns, rows, row_bytes);
}

#if defined(__x86_64__)
template <class T, bool kSwapped>
__attribute__((target("avx2"))) Extremes extremes_avx2(const std::byte* from, size_t columns, size_t rows,
                                                       size_t row_bytes) {
  return ExtremesLoop<T, kSwapped, 4>::run(from, columns, rows, row_bytes);
}
#else
template <class T, bool kSwapped>
constexpr FindExtremes extremes_avx2 = extremes_baseline<T, kSwapped>;
#endif

}  // namespace

FindExtremes find_extremes(InstructionSet set, const DataType& type) {
  return with_number_type(type, [&]<class T, bool kSwapped>() {
    return set == InstructionSet::avx2 ? FindExtremes(extremes_avx2<T, kSwapped>)
                                       : FindExtremes(extremes_baseline<T, kSwapped>);
  });
}

}  // namespace forebay::container
