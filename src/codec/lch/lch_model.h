// What both sides of the lch coder know: its symbols, its contexts, and how the head of an encoded frame holds them
// (docs/codecs.md, "lch").
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/shape.h"
#include "codec/prefix_code.h"
#include "codec/simd.h"

namespace forebay::codec::lch {

inline constexpr size_t kGroupElements = 64;
inline constexpr size_t kLanes = 4;
inline constexpr size_t kMaxSymbols = 256;
inline constexpr unsigned kMaxLeadingBits = 2;
inline constexpr unsigned kMaxLeftClasses = 16;
inline constexpr unsigned kMaxUpperClasses = 4;
inline constexpr unsigned kMaxContexts = kMaxLeftClasses * kMaxUpperClasses;

// A residual's symbol tells the place of its top bit and the `leading` bits below it; the bits below these are raw.
template <class U>
FOREBAY_KERNEL unsigned symbol_of(U residual, unsigned leading) {
  const uint64_t widened = uint64_t{residual} | uint64_t{1} << leading;
  const auto raw = static_cast<unsigned>(63 - std::countl_zero(widened)) - leading;
  return (raw << leading) + static_cast<unsigned>(residual >> raw);
}
constexpr unsigned raw_bits(unsigned symbol, unsigned leading) {
  const unsigned octave = symbol >> leading;
  return octave < 2 ? 0 : octave - 1;
}
// The least residual with this symbol.
constexpr uint64_t least_residual(unsigned symbol, unsigned leading) {
  const unsigned raw = raw_bits(symbol, leading);
  return uint64_t{symbol - (raw << leading)} << raw;
}
// The largest symbol that residuals of `bits` bits have.
constexpr unsigned largest_symbol(unsigned bits, unsigned leading) {
  return ((bits - leading - 1) << leading) + (2u << leading) - 1;
}

// Classes of symbols: the number of bounds that are not above the symbol.
template <unsigned kMaxClasses>
struct Classes {
  std::array<uint8_t, kMaxClasses - 1> bounds{};

  unsigned of(unsigned symbol, unsigned classes) const {
    unsigned result = 0;
    for (unsigned i = 0; i + 1 < classes; ++i) result += symbol >= bounds[i] ? 1 : 0;
    return result;
  }
};

// An element's context is the class of its left neighbour's symbol and, among the classes that this one has, that of
// its upper neighbour's.
struct Model {
  unsigned leading_bits = 1;
  unsigned left_classes = 1, upper_classes = 1;
  unsigned symbols = 1;  // how many of them have lengths: all that occur
  Classes<kMaxLeftClasses> left;
  std::array<Classes<kMaxUpperClasses>, kMaxLeftClasses> upper;
  std::vector<std::array<uint8_t, kMaxSymbols>> lengths;  // of the codes, by context

  unsigned contexts() const { return left_classes * upper_classes; }
  std::span<const uint8_t> lengths_of(unsigned context) const { return std::span(lengths[context]).first(symbols); }
  unsigned longest_code() const;
};

// Model as tables.
struct ContextTable {
  explicit ContextTable(const Model& model);

  std::array<uint8_t, kMaxSymbols> left_class;
  std::array<std::array<uint8_t, kMaxLeftClasses>, kMaxSymbols> context;  // by upper symbol and left class
};

// Up to 64 elements that are not all zero.
struct Group {
  size_t first = 0;     // element
  size_t distance = 0;  // from an element back to its upper neighbour, 0 if the group's elements have none
};

// The symbols of the upper neighbours of a group that has none.
inline constexpr std::array<uint8_t, kGroupElements> kNoNeighbours{};

// The groups that are coded, in four lanes of about equal size, whose streams do not depend on each other.
struct Lanes {
  std::vector<Group> groups;
  std::array<size_t, kLanes + 1> begin{};  // where each lane begins among the groups; and their end

  size_t size(size_t lane) const { return begin[lane + 1] - begin[lane]; }
};

// One entry per group of the frame: whether all its elements are 0.
using ZeroGroups = std::vector<uint8_t>;

Lanes make_lanes(const FrameShape& shape, const ZeroGroups& zero);

// The head of an encoded frame; the sizes of the streams follow it.
struct Head {
  Model model;
  ZeroGroups zero;
};

Bytes write_head(const Model& model, const ZeroGroups& zero);

// Takes the head off the front of `in`. corrupt if it breaks a rule.
Result<Head> read_head(std::span<const std::byte>& in, size_t groups, unsigned element_bits);

}  // namespace forebay::codec::lch
