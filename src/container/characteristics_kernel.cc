#include "container/characteristics_kernel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "container/vector_load.h"

namespace forebay::container {

namespace {

// `kWidth` neighbouring lanes of all running values.
template <size_t kWidth>
struct Running {
  using Doubles = Vector<double, kWidth>;
  using Integers = Vector<int64_t, kWidth>;

  Doubles min, max, sum, sum_of_squares;

  FOREBAY_INLINE void load(const LaneSums& lanes, size_t first) {
    std::memcpy(&min, lanes.min + first, sizeof min);
    std::memcpy(&max, lanes.max + first, sizeof max);
    std::memcpy(&sum, lanes.sum + first, sizeof sum);
    std::memcpy(&sum_of_squares, lanes.sum_of_squares + first, sizeof sum_of_squares);
  }

  FOREBAY_INLINE void store(LaneSums& lanes, size_t first) const {
    std::memcpy(lanes.min + first, &min, sizeof min);
    std::memcpy(lanes.max + first, &max, sizeof max);
    std::memcpy(lanes.sum + first, &sum, sizeof sum);
    std::memcpy(lanes.sum_of_squares + first, &sum_of_squares, sizeof sum_of_squares);
  }

  FOREBAY_INLINE void add(const Doubles& values) {
    sum += values;
    sum_of_squares += values * values;
    min = values < min ? values : min;
    max = values > max ? values : max;
  }

  // Takes in the values that `used` has all bits of.
  FOREBAY_INLINE void add(const Doubles& values, const Integers& used) {
    const Doubles kept = reinterpret_cast<Doubles>(reinterpret_cast<Integers>(values) & used);
    sum += kept;
    sum_of_squares += kept * kept;
    min = (used & (values < min)) ? values : min;
    max = (used & (values > max)) ? values : max;
  }
};

template <class T, bool kSwapped, size_t kWidth>
struct Loop {
  using Doubles = Vector<double, kWidth>;
  using Integers = Vector<int64_t, kWidth>;
  static constexpr size_t kParts = kLanes / kWidth;
  static constexpr size_t kElementBytes = sizeof(Bits<T>);

  static FOREBAY_INLINE void load(const std::byte* from, size_t part, Doubles& values) {
    Vector<Bits<T>, kWidth> bits;
    std::memcpy(&bits, from + part * kWidth * kElementBytes, sizeof bits);
    if constexpr (kSwapped) swap_bytes<Bits<T>, kWidth>(bits);
    widen<T, kWidth>(bits, values);
  }

  // Takes in eight times `rows` elements. False, and nothing is taken in, if one of them is not finite.
  static FOREBAY_INLINE bool add_finite(const std::byte* from, size_t rows, LaneSums& lanes) {
    Running<kWidth> running[kParts];
    for (size_t part = 0; part < kParts; ++part) running[part].load(lanes, part * kWidth);
    Doubles poison = {};
    for (size_t row = 0; row < rows; ++row, from += kLanes * kElementBytes) {
#pragma GCC unroll 8
      for (size_t part = 0; part < kParts; ++part) {
        Doubles values;
        load(from, part, values);
        running[part].add(values);
        if constexpr (!std::is_integral_v<T>) poison += values - values;  // 0, or NaN for ever
      }
    }
    for (size_t lane = 0; lane < kWidth; ++lane)
      if (poison[lane] != 0) return false;
    for (size_t part = 0; part < kParts; ++part) running[part].store(lanes, part * kWidth);
    return true;
  }

  // Takes in one element per lane, of which the first `count` are there.
  static FOREBAY_INLINE void add_any(const std::byte* from, size_t count, LaneSums& lanes) {
    for (size_t part = 0; part < kParts; ++part) {
      Running<kWidth> running;
      running.load(lanes, part * kWidth);
      Doubles values;
      load(from, part, values);
      Integers used = {};
      for (size_t i = 0; i < kWidth; ++i) {
        const size_t lane = part * kWidth + i;
        const bool there = lane < count, finite = values[i] - values[i] == 0;
        used[i] = there && finite ? -1 : 0;
        lanes.not_finite[lane] += there && !finite;
        lanes.nans[lane] += there && values[i] != values[i];
      }
      running.add(values, used);
      running.store(lanes, part * kWidth);
    }
  }

  // Most blocks are finite: only the others are gone through again, with an eye on each element.
  static FOREBAY_INLINE void scan(const std::byte* from, size_t elements, LaneSums& lanes) {
    constexpr size_t kBlockRows = 64;
    while (elements >= kLanes) {
      const size_t rows = std::min(kBlockRows, elements / kLanes);
      if (!add_finite(from, rows, lanes))
        for (size_t row = 0; row < rows; ++row) add_any(from + row * kLanes * kElementBytes, kLanes, lanes);
      from += rows * kLanes * kElementBytes;
      elements -= rows * kLanes;
    }
    std::byte last[kLanes * kElementBytes] = {};
    std::memcpy(last, from, elements * kElementBytes);
    add_any(last, elements, lanes);
  }
};

template <class T, bool kSwapped>
void scan_baseline(const std::byte* from, size_t elements, LaneSums& lanes) {
  Loop<T, kSwapped, 2>::scan(from, elements, lanes);
}

#if defined(__x86_64__)
template <class T, bool kSwapped>
__attribute__((target("avx2"))) void scan_avx2(const std::byte* from, size_t elements, LaneSums& lanes) {
  Loop<T, kSwapped, 4>::scan(from, elements, lanes);
}
#else
template <class T, bool kSwapped>
constexpr Scan scan_avx2 = scan_baseline<T, kSwapped>;
#endif

template <class T, bool kSwapped>
Scan pick(InstructionSet set) {
  return set == InstructionSet::avx2 ? Scan(scan_avx2<T, kSwapped>) : Scan(scan_baseline<T, kSwapped>);
}

}  // namespace

Scan find_scan(InstructionSet set, const DataType& type) {
  return with_number_type(type, [&]<class T, bool kSwapped>() { return pick<T, kSwapped>(set); });
}

}  // namespace forebay::container
