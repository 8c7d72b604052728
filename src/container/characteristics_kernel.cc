#include "container/characteristics_kernel.h"

#include <bit>
#include <cstring>
#include <type_traits>

#define FOREBAY_INLINE inline __attribute__((always_inline))

namespace forebay::container {

namespace {

using Doubles = double __attribute__((vector_size(8 * kLanes)));
using Integers = int64_t __attribute__((vector_size(8 * kLanes)));

// IEEE 754 binary16, which neither the language nor every machine has.
struct Half {
  uint16_t bits;
};

FOREBAY_INLINE double to_double(Half half) {
  const uint32_t sign = uint32_t{half.bits} >> 15 << 31, magnitude = half.bits & 0x7fffu;
  // Moved into the exponent and fraction of a binary32, a half is too small by 2^112; subnormals included. Infinities
  // and NaNs then have the largest half exponent and are lifted to the largest one.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const uint32_t special = magnitude >= 0x7c00u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | sign);
}

template <class T>
FOREBAY_INLINE double to_double(T value) {
  return static_cast<double>(value);
}

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T, bool kSwapped>
FOREBAY_INLINE T load(const std::byte* from) {
  Bits<T> bits;
  std::memcpy(&bits, from, sizeof bits);
  if constexpr (kSwapped) bits = std::byteswap(bits);
  return std::bit_cast<T>(bits);
}

// Vectors go by reference: how they are returned depends on the instruction set.
template <class T, bool kSwapped>
FOREBAY_INLINE void load_lanes(const std::byte* from, size_t count, Doubles& lanes) {
  double values[kLanes] = {};
  for (size_t i = 0; i < count; ++i) values[i] = to_double(load<T, kSwapped>(from + i * sizeof(T)));
  std::memcpy(&lanes, values, sizeof lanes);
}

template <class T, bool kSwapped>
FOREBAY_INLINE void load_all_lanes(const std::byte* from, Doubles& lanes) {
  if constexpr (!kSwapped && std::is_same_v<T, double>) {
    std::memcpy(&lanes, from, sizeof lanes);
  } else if constexpr (!kSwapped && std::is_same_v<T, float>) {
    using Floats = float __attribute__((vector_size(4 * kLanes)));
    Floats floats;
    std::memcpy(&floats, from, sizeof floats);
    lanes = __builtin_convertvector(floats, Doubles);
  } else {
    load_lanes<T, kSwapped>(from, kLanes, lanes);
  }
}

// All lanes of all running values, in registers.
struct Running {
  Doubles min, max, sum, sum_of_squares;
  Integers not_finite, nans;

  explicit FOREBAY_INLINE Running(const LaneSums& lanes) {
    std::memcpy(&min, lanes.min, sizeof min);
    std::memcpy(&max, lanes.max, sizeof max);
    std::memcpy(&sum, lanes.sum, sizeof sum);
    std::memcpy(&sum_of_squares, lanes.sum_of_squares, sizeof sum_of_squares);
    std::memcpy(&not_finite, lanes.not_finite, sizeof not_finite);
    std::memcpy(&nans, lanes.nans, sizeof nans);
  }

  FOREBAY_INLINE void store(LaneSums& lanes) const {
    std::memcpy(lanes.min, &min, sizeof min);
    std::memcpy(lanes.max, &max, sizeof max);
    std::memcpy(lanes.sum, &sum, sizeof sum);
    std::memcpy(lanes.sum_of_squares, &sum_of_squares, sizeof sum_of_squares);
    std::memcpy(lanes.not_finite, &not_finite, sizeof not_finite);
    std::memcpy(lanes.nans, &nans, sizeof nans);
  }

  // Takes in the lanes of `values` that `present` has all bits of. Integers (`kFinite`) need no look for NaNs.
  template <bool kFinite>
  FOREBAY_INLINE void add(const Doubles& values, const Integers& present) {
    Integers used = present;
    if constexpr (!kFinite) {
      const Integers finite = (values - values) == Doubles{};  // NaN for NaNs and infinities
      not_finite -= present & ~finite;
      nans -= present & (values != values);
      used &= finite;
    }
    const Doubles kept = reinterpret_cast<Doubles>(reinterpret_cast<Integers>(values) & used);
    sum += kept;
    sum_of_squares += kept * kept;
    min = (used & (values < min)) ? values : min;
    max = (used & (values > max)) ? values : max;
  }
};

template <class T, bool kSwapped>
FOREBAY_INLINE void scan_elements(const std::byte* from, size_t elements, LaneSums& lanes) {
  constexpr bool kFinite = std::is_integral_v<T>;
  Running running(lanes);
  const Integers all = ~Integers{};
  Doubles values;
  for (; elements >= kLanes; elements -= kLanes, from += kLanes * sizeof(T)) {
    load_all_lanes<T, kSwapped>(from, values);
    running.add<kFinite>(values, all);
  }
  Integers present = {};
  for (size_t i = 0; i < elements; ++i) present[i] = -1;
  load_lanes<T, kSwapped>(from, elements, values);
  running.add<kFinite>(values, present);
  running.store(lanes);
}

template <class T, bool kSwapped>
void scan_baseline(const std::byte* from, size_t elements, LaneSums& lanes) {
  scan_elements<T, kSwapped>(from, elements, lanes);
}

#if defined(__x86_64__)
template <class T, bool kSwapped>
__attribute__((target("avx2"))) void scan_avx2(const std::byte* from, size_t elements, LaneSums& lanes) {
  scan_elements<T, kSwapped>(from, elements, lanes);
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
