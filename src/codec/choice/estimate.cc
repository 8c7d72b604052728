#include "codec/choice/estimate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "codec/lossless/byte_planes.h"

namespace forebay::codec {
namespace {

constexpr unsigned kFractionBits = 16, kTableBits = 8;

// log2(1 + i / 2^kTableBits) in units of 2^-kFractionBits, by repeated squaring of a fixed-point number.
constexpr std::array<uint32_t, 1 << kTableBits> kLog2Table = [] {
  constexpr unsigned kPoint = 31;
  std::array<uint32_t, 1 << kTableBits> table{};
  for (uint64_t i = 0; i < table.size(); ++i) {
    uint64_t x = (uint64_t{1} << kPoint) + (i << (kPoint - kTableBits));
    for (unsigned bit = kFractionBits; bit-- > 0;) {
      x = x * x >> kPoint;
      if (x >> (kPoint + 1) == 0) continue;
      x >>= 1;
      table[i] |= 1u << bit;
    }
  }
  return table;
}();

uint64_t log2_fixed(uint64_t value) {
  const auto exponent = static_cast<unsigned>(std::bit_width(value)) - 1;
  const uint64_t mantissa =
      exponent >= kTableBits ? value >> (exponent - kTableBits) : value << (kTableBits - exponent);
  return (uint64_t{exponent} << kFractionBits) + kLog2Table[mantissa & ((1 << kTableBits) - 1)];
}

constexpr size_t kWord = 8;

// The bits for one byte plane: words that continue a run of one byte are nearly free, the rest is coded by frequency.
uint64_t plane_bits(const std::byte* plane, size_t count) {
  constexpr uint64_t kRunStartBits = 20, kRunWordsPerBit = 64;
  std::array<uint32_t, 256> frequency[2] = {};
  size_t run_words = 0, run_starts = 0;
  bool in_run = false;
  size_t i = 0;
  for (; i + kWord <= count; i += kWord) {
    const uint64_t word = load_le<uint64_t>(plane + i);
    if (std::rotl(word, 8) == word) {
      const bool continues = in_run && plane[i] == plane[i - 1];
      run_starts += continues ? 0 : 1;
      ++run_words;
      in_run = true;
      continue;
    }
    in_run = false;
    for (unsigned shift = 0; shift < 64; shift += 8) ++frequency[shift / 8 % 2][word >> shift & 0xff];
  }
  for (; i < count; ++i) ++frequency[0][std::to_integer<unsigned>(plane[i])];

  uint64_t literals = 0, bits = 0;
  for (unsigned symbol = 0; symbol < 256; ++symbol) literals += frequency[0][symbol] += frequency[1][symbol];
  if (literals > 0) {
    const uint64_t whole = log2_fixed(literals);
    for (const uint64_t n : frequency[0])
      if (n > 0) bits += n * (whole - log2_fixed(n));
  }
  return (bits >> kFractionBits) + std::min(run_starts * kRunStartBits, run_words * kWord) +
         run_words / kRunWordsPerBit;
}

uint64_t hash_of(const std::byte* element, size_t width) {
  uint64_t hash = 0;
  for (size_t i = 0; i < width; i += kWord) {
    uint64_t word = 0;
    std::memcpy(&word, element + i, std::min(kWord, width - i));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  }
  return hash;
}

}  // namespace

uint64_t shuffled_bits(std::span<const std::byte> elements, size_t width) {
  const size_t count = elements.size() / width;
  Bytes planes(elements.size());
  split_planes(elements.data(), count, width, planes.data(), count);
  uint64_t bits = 0;
  for (size_t b = 0; b < width; ++b) bits += plane_bits(planes.data() + b * count, count);
  return bits;
}

uint64_t repeated_bits(std::span<const std::byte> elements, size_t width) {
  constexpr uint64_t kMatchBits = 18;
  constexpr unsigned kTableLog = 11;
  std::vector<uint32_t> last(size_t{1} << kTableLog, UINT32_MAX);
  const size_t count = elements.size() / width;
  uint64_t bits = 0;
  uint64_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t hash = hash_of(elements.data() + i * width, width);
    const bool same_as_before = i > 0 && hash == before;
    uint32_t& seen = last[hash >> (64 - kTableLog)];
    bits += same_as_before ? 1 : seen == static_cast<uint32_t>(hash) ? kMatchBits : 8 * width;
    seen = static_cast<uint32_t>(hash);
    before = hash;
  }
  return bits;
}

}  // namespace forebay::codec
