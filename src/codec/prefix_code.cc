#include "codec/prefix_code.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace forebay::codec {
namespace {

constexpr size_t kMaxSymbols = 256;

// Symbols that occur, the rarest first.
struct Leaves {
  std::array<uint64_t, kMaxSymbols> keys;  // count and symbol, so that they sort the same everywhere
  size_t count = 0;

  explicit Leaves(std::span<const uint32_t> counts) {
    for (size_t symbol = 0; symbol < counts.size(); ++symbol)
      if (counts[symbol] != 0) keys[count++] = uint64_t{counts[symbol]} << 8 | symbol;
    std::sort(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(count));
  }
  uint64_t weight(size_t leaf) const { return keys[leaf] >> 8; }
  size_t symbol(size_t leaf) const { return keys[leaf] & 0xff; }
};

using Depths = std::array<uint8_t, kMaxSymbols>;

// The depths of the leaves in Huffman's tree, by two queues: inner nodes come into being in the order of their weights.
void huffman_depths(const Leaves& leaves, Depths& depths) {
  const size_t inner = leaves.count - 1;
  std::array<uint64_t, kMaxSymbols> weights;
  std::array<uint16_t, kMaxSymbols> parent_of_leaf, parent_of_inner, depth_of_inner;
  size_t leaf = 0, node = 0;
  for (size_t made = 0; made < inner; ++made) {
    weights[made] = 0;
    for (int child = 0; child < 2; ++child) {
      if (leaf < leaves.count && (node == made || leaves.weight(leaf) <= weights[node])) {
        weights[made] += leaves.weight(leaf);
        parent_of_leaf[leaf++] = static_cast<uint16_t>(made);
      } else {
        weights[made] += weights[node];
        parent_of_inner[node++] = static_cast<uint16_t>(made);
      }
    }
  }
  depth_of_inner[inner - 1] = 0;
  for (size_t i = inner - 1; i-- > 0;)
    depth_of_inner[i] = static_cast<uint16_t>(depth_of_inner[parent_of_inner[i]] + 1);
  for (size_t i = 0; i < leaves.count; ++i) depths[i] = static_cast<uint8_t>(depth_of_inner[parent_of_leaf[i]] + 1);
}

// Cuts the depths to `limit`, then lengthens rare codes until all fit, and shortens frequent ones to use what remains.
// Each depth takes 2^(limit - depth) of the code space; the space left over is always a multiple of the least of these,
// so that the code ends complete.
void limit_depths(size_t count, unsigned limit, Depths& depths) {
  const auto space = [limit](unsigned depth) { return int64_t{1} << (limit - depth); };
  int64_t left = space(0);
  for (size_t i = 0; i < count; ++i) {
    depths[i] = static_cast<uint8_t>(std::min<unsigned>(depths[i], limit));
    left -= space(depths[i]);
  }
  for (size_t i = 0; left < 0;) {
    if (depths[i] == limit) {
      ++i;
      continue;
    }
    left += space(++depths[i]);
  }
  while (left > 0)
    for (size_t i = count; i-- > 0;)
      while (depths[i] > 1 && space(depths[i]) <= left) left -= space(depths[i]--);
}

uint16_t reversed(unsigned code, unsigned bits) {
  unsigned result = 0;
  for (unsigned i = 0; i < bits; ++i) result |= (code >> i & 1) << (bits - 1 - i);
  return static_cast<uint16_t>(result);
}

}  // namespace

void make_code_lengths(std::span<const uint32_t> counts, unsigned limit, std::span<uint8_t> lengths) {
  std::ranges::fill(lengths, uint8_t{0});
  const Leaves leaves(counts);
  if (leaves.count == 0) return;
  if (leaves.count == 1) {
    lengths[leaves.symbol(0)] = kLoneSymbol;
    return;
  }
  Depths depths;
  huffman_depths(leaves, depths);
  if (depths[0] > limit) limit_depths(leaves.count, limit, depths);
  for (size_t i = 0; i < leaves.count; ++i) lengths[leaves.symbol(i)] = depths[i];
}

bool is_code(std::span<const uint8_t> lengths) {
  unsigned used = 0;
  size_t symbols = 0, lone = 0;
  for (const uint8_t length : lengths) {
    if (length == 0) continue;
    ++symbols;
    if (length == kLoneSymbol)
      ++lone;
    else if (length <= kMaxCodeBits)
      used += 1u << (kMaxCodeBits - length);
    else
      return false;
  }
  if (symbols == 0 || (symbols == 1 && lone == 1)) return true;
  return lone == 0 && used == 1u << kMaxCodeBits;
}

void make_codes(std::span<const uint8_t> lengths, std::span<uint16_t> codes) {
  std::array<unsigned, 16> count{}, next{};
  for (const uint8_t length : lengths) ++count[length];
  count[0] = 0;
  for (unsigned bits = 1; bits <= kMaxCodeBits; ++bits) next[bits] = (next[bits - 1] + count[bits - 1]) << 1;
  for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    const uint8_t length = lengths[symbol];
    codes[symbol] = length == 0 || length == kLoneSymbol ? uint16_t{0} : reversed(next[length]++, length);
  }
}

void fill_decode_table(std::span<const uint8_t> lengths, std::span<const uint32_t> entries, unsigned bits,
                       uint32_t* table) {
  const auto lone = std::ranges::find(lengths, kLoneSymbol);
  table[0] = lone != lengths.end() ? entries[static_cast<size_t>(lone - lengths.begin())] : entries[0];
  std::array<uint16_t, kMaxSymbols> codes;
  make_codes(lengths, codes);
  // The table of the codes of up to `length` bits, twice, is that of the codes of one bit more, less the longer codes.
  std::array<std::array<uint8_t, kMaxSymbols>, kMaxCodeBits + 1> symbols;
  std::array<size_t, kMaxCodeBits + 1> count{};
  for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
    if (const uint8_t length = lengths[symbol]; length != 0 && length != kLoneSymbol)
      symbols[length][count[length]++] = static_cast<uint8_t>(symbol);
  for (unsigned length = 1; length <= bits; ++length) {
    const size_t half = size_t{1} << (length - 1);
    std::copy_n(table, half, table + half);
    for (size_t i = 0; i < count[length]; ++i) table[codes[symbols[length][i]]] = entries[symbols[length][i]];
  }
}

}  // namespace forebay::codec
