#include "format/number_probe.h"

#include <array>
#include <cmath>
#include <cstdint>

#include "base/cursor.h"

namespace forebay::format {
namespace {

constexpr size_t kLeastBytes = 256;
constexpr double kBetter = 0.97;        // of the bits of the next smaller element
constexpr double kMostlyNumbers = 0.9;  // of the elements have a plausible exponent

// Bits for each byte, if the halves of bytes at each of `stride` places have codes of their own: halves, since a small
// sample knows the distribution of 16 values, and not that of 256.
double bits_of(std::span<const std::byte> sample, size_t stride) {
  double bits = 0;
  for (size_t place = 0; place < stride; ++place) {
    std::array<std::array<uint32_t, 16>, 2> counts{};
    double total = 0;
    for (size_t i = place; i < sample.size(); i += stride, ++total) {
      const auto byte = std::to_integer<uint8_t>(sample[i]);
      ++counts[0][byte & 0xf];
      ++counts[1][byte >> 4];
    }
    for (const auto& half : counts) {
      double used = 0;
      for (const uint32_t count : half) {
        if (count == 0) continue;
        bits -= count * std::log2(count / total);
        ++used;
      }
      bits += (used - 1) / (2 * std::log(2.0));
    }
  }
  return bits / static_cast<double>(sample.size());
}

// Exponents of zero, and of what lies within 2^-96 and 2^96.
template <class Word, int kMantissa, int kBias>
bool are_floating(std::span<const std::byte> sample, ByteOrder order) {
  constexpr int kRange = 96;
  size_t plausible = 0, all = 0;
  for (; (all + 1) * sizeof(Word) <= sample.size(); ++all) {
    const std::byte* const at = sample.data() + all * sizeof(Word);
    const Word word = load<Word>(at, order);
    constexpr Word kExponents = 2 * kBias + 1;
    const int exponent = static_cast<int>(word >> kMantissa & kExponents) - kBias;
    if (word << 1 == 0 || (exponent >= -kRange && exponent <= kRange)) ++plausible;
  }
  return static_cast<double>(plausible) >= kMostlyNumbers * static_cast<double>(all);
}

// Whether the halves of 8 bytes that count more are signs only: else, integers that go up look like pairs.
bool are_long_integers(std::span<const std::byte> sample, ByteOrder order) {
  size_t plausible = 0, all = 0;
  for (; (all + 1) * sizeof(int64_t) <= sample.size(); ++all) {
    const std::byte* const at = sample.data() + all * sizeof(int64_t);
    const int64_t high = load<int64_t>(at, order) >> 32;
    if (high == 0 || high == -1) ++plausible;
  }
  return static_cast<double>(plausible) >= kMostlyNumbers * static_cast<double>(all);
}

}  // namespace

DataType probe_numbers(std::span<const std::byte> sample, ByteOrder order) {
  if (sample.size() < kLeastBytes) return kBytes;
  const double of_1 = bits_of(sample, 1), of_4 = bits_of(sample, 4), of_8 = bits_of(sample, 8);
  if (of_8 < kBetter * std::min(of_4, of_1)) {
    if (are_floating<uint64_t, 52, 1023>(sample, order)) return {Kind::floating, order, 8};
    if (are_long_integers(sample, order)) return {Kind::signed_int, order, 8};
  }
  if (of_4 < kBetter * of_1)
    return {are_floating<uint32_t, 23, 127>(sample, order) ? Kind::floating : Kind::signed_int, order, 4};
  return kBytes;
}

}  // namespace forebay::format
