#include "container/characteristics_kernel.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#define FOREBAY_INLINE inline __attribute__((always_inline))

namespace forebay::container {

namespace {

// Vectors of the compilers' own kind, which they spell in whatever instructions they may use. They are passed by
// reference: how they are returned depends on the instruction set.
template <class T, size_t kWidth>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * kWidth)));
};
template <class T, size_t kWidth>
using Vector = typename VectorOf<T, kWidth>::type;

// IEEE 754 binary16, which neither the language nor every machine has.
struct Half {};

template <size_t kSize>
using UnsignedOf =
    std::conditional_t<kSize == 1, uint8_t,
                       std::conditional_t<kSize == 2, uint16_t, std::conditional_t<kSize == 4, uint32_t, uint64_t>>>;

template <class T>
using Bits = UnsignedOf<std::is_same_v<T, Half> ? 2 : sizeof(T)>;

template <class B, size_t kWidth>
FOREBAY_INLINE void swap_bytes(Vector<B, kWidth>& v) {
  if constexpr (sizeof(B) == 8) v = (v << 32) | (v >> 32);
  if constexpr (sizeof(B) == 8)
    v = ((v & 0x0000ffff0000ffff) << 16) | ((v >> 16) & 0x0000ffff0000ffff);
  else if constexpr (sizeof(B) == 4)
    v = (v << 16) | (v >> 16);
  constexpr auto kEvenBytes = static_cast<B>(0x00ff00ff00ff00ff);
  if constexpr (sizeof(B) >= 2) v = ((v & kEvenBytes) << 8) | ((v >> 8) & kEvenBytes);
}

// The binary32 values of halves.
template <size_t kWidth>
FOREBAY_INLINE void widen_halves(const Vector<uint16_t, kWidth>& halves, Vector<float, kWidth>& out) {
  using Words = Vector<uint32_t, kWidth>;
  using Floats = Vector<float, kWidth>;
  const Words bits = __builtin_convertvector(halves, Words);
  const Words magnitude = bits & 0x7fff;
  // Moved into the exponent and fraction of a binary32, a half is too small by 2^112; subnormals included. Infinities
  // and NaNs, with the largest half exponent, are lifted to the largest one there is.
  const Floats scaled = reinterpret_cast<Floats>(magnitude << 13) * 0x1p112f;
  const Words special = reinterpret_cast<Words>(magnitude >= 0x7c00) & 0x7f800000;
  out = reinterpret_cast<Floats>(reinterpret_cast<Words>(scaled) | special | (bits >> 15 << 31));
}

// The elements of type T whose bytes, in native order, are `bits`.
template <class T, size_t kWidth>
FOREBAY_INLINE void widen(const Vector<Bits<T>, kWidth>& bits, Vector<double, kWidth>& out) {
  using Doubles = Vector<double, kWidth>;
  using Ints = Vector<int32_t, kWidth>;
  if constexpr (std::is_same_v<T, double>) {
    out = reinterpret_cast<Doubles>(bits);
  } else if constexpr (std::is_same_v<T, float>) {
    out = __builtin_convertvector(reinterpret_cast<Vector<float, kWidth>>(bits), Doubles);
  } else if constexpr (std::is_same_v<T, Half>) {
    Vector<float, kWidth> floats;
    widen_halves<kWidth>(bits, floats);
    out = __builtin_convertvector(floats, Doubles);
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    // Signed conversion is the one that machines have; the offset is exact.
    out = __builtin_convertvector(reinterpret_cast<Ints>(bits ^ 0x80000000), Doubles) + 0x1p31;
  } else if constexpr (sizeof(T) < 4) {
    out = __builtin_convertvector(__builtin_convertvector(reinterpret_cast<Vector<T, kWidth>>(bits), Ints), Doubles);
  } else {
    out = __builtin_convertvector(reinterpret_cast<Vector<T, kWidth>>(bits), Doubles);
  }
}

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

template <class T>
Scan pick(InstructionSet set, ByteOrder order) {
  const bool swapped = (order == ByteOrder::big) != (std::endian::native == std::endian::big);
  if (set == InstructionSet::avx2) return swapped ? Scan(scan_avx2<T, true>) : Scan(scan_avx2<T, false>);
  return swapped ? Scan(scan_baseline<T, true>) : Scan(scan_baseline<T, false>);
}

template <class One, class Two, class Four, class Eight>
Scan pick_size(InstructionSet set, const DataType& type) {
  switch (type.size) {
    case 1:
      return pick<One>(set, type.order);
    case 2:
      return pick<Two>(set, type.order);
    case 4:
      return pick<Four>(set, type.order);
    default:
      return pick<Eight>(set, type.order);
  }
}

}  // namespace

Scan find_scan(InstructionSet set, const DataType& type) {
  switch (type.kind) {
    case Kind::signed_int:
      return pick_size<int8_t, int16_t, int32_t, int64_t>(set, type);
    case Kind::unsigned_int:
      return pick_size<uint8_t, uint16_t, uint32_t, uint64_t>(set, type);
    default:
      return pick_size<Half, Half, float, double>(set, type);
  }
}

}  // namespace forebay::container
