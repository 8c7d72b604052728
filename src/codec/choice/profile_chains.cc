#include "codec/choice/profile_chains.h"

#include <algorithm>

#include "codec/relation/relation.h"

namespace forebay::codec {
namespace {

const Stage kShuffle{kShuffleId, 0, {}}, kBitshuffle{kBitshuffleId, 0, {}};
const Stage kFpc2{kFpcId, 2, {}}, kFpzip1d{kFpzip1dId, 0, {}}, kLz4{kLz4Id, 0, {}};
const Stage kFitted{kFittedId, 0, {}}, kLch{kLchId, 0, {}}, kLchMax{kLchId, 1, {}}, kHalo{kHaloId, 0, {}};

const Stage kDifference{kDifferenceId, 0, {}}, kDifferenceAsIs{kDifferenceId, 1, {}};

Stage lorenzo(uint8_t order) { return {kLorenzoId, order, {}}; }

// What an element adds to its neighbours is what the one before it adds to its own: in the elements' arithmetic, where
// `difference` and `lorenzo` see integers, whose steps are larger beyond each power of two.
Stage change_since() { return {kRelationId, 0, encode_relation({RelationKind::change, {{0, false, 1.0}}})}; }

bool is_available(const Chain& chain) {
  return std::ranges::all_of(chain, [](const Stage& stage) { return find_codec(stage.id) != nullptr; });
}

bool is_float(const DataType& type) { return type.kind == Kind::floating && (type.size == 4 || type.size == 8); }

}  // namespace

Chain join(Chain chain, const Stage& coder) {
  chain.push_back(coder);
  return chain;
}

std::vector<Chain> transforms(const DataType& type) {
  if (type.size == 1)
    return type.is_number() ? std::vector<Chain>{{}, {lorenzo(0)}, {lorenzo(1)}} : std::vector<Chain>{{}};
  if (!type.is_number()) return {{kShuffle}, {}};
  return {{kShuffle}, {lorenzo(0), kShuffle}, {lorenzo(1), kShuffle}, {lorenzo(2), kShuffle}, {}};
}

// Doubles have more bytes that only a search for matches can save, and fewer elements to search per byte.
Stage balanced_coder(const DataType& type) { return type.size == 8 ? kZstd3 : kZstd1; }

// The paper's first pass by type (mcrEngine section 6.1). Where the build lacks the library, only the second pass.
Chain paper_chain(const DataType& type) {
  Chain chain{kLz4, kDeflate6};
  if (type.kind == Kind::floating && type.size == 8) chain = {kFpc2, kDeflate6};
  if (type.kind == Kind::floating && type.size == 4) chain = {kFpzip1d, kDeflate6};
  return is_available(chain) ? chain : Chain{kDeflate6};
}

std::vector<Chain> balanced_chains(const DataType& type, const Chain& transform) {
  std::vector<Chain> chains{join(transform, balanced_coder(type))};
  if (is_float(type)) chains.push_back({kFitted, kLch});
  return chains;
}

std::vector<Chain> max_chains(const DataType& type, const Chain& transform) {
  std::vector<Chain> chains{join(transform, kZstd3)};
  if (type.is_number() && type.size > 1) chains.push_back({lorenzo(0), kBitshuffle, kZstd3});
  if (is_float(type)) chains.insert(chains.end(), {{kFitted, kLchMax}, {kFitted, kShuffle, kZstd3}});
  return chains;
}

// No transform improves residuals of a prediction from other variables.
std::vector<Chain> related_chains(const Bytes& parameters) {
  const Stage relation{kRelationId, 0, parameters};
  return {{relation, kLchMax}, {relation, kShuffle, kZstd3}, {relation, kBitshuffle, kZstd3}};
}

// Differences are small as they are, or change little from cell to cell.
std::vector<Chain> fast_difference_chains() {
  return {{kDifference, kShuffle, kZstd1}, {kDifferenceAsIs, lorenzo(0), kShuffle, kZstd1}};
}

std::vector<Chain> balanced_difference_chains(const DataType& type) {
  std::vector<Chain> chains{{kDifference, kLch}, {kDifferenceAsIs, lorenzo(0), kLch}, {kDifference, kShuffle, kZstd1}};
  if (is_float(type)) chains.push_back({change_since(), kLch});
  return chains;
}

std::vector<Chain> max_difference_chains(const DataType& type) {
  std::vector<Chain> chains = balanced_difference_chains(type);
  chains.insert(chains.end(), {{kDifference, kLchMax},
                               {kDifferenceAsIs, lorenzo(0), kLchMax},
                               {kDifference, kShuffle, kZstd9},
                               {kDifference, kBitshuffle, kZstd3}});
  if (is_float(type)) chains.push_back({change_since(), kLchMax});
  return chains;
}

bool refers(const Chain& chain) { return !chain.empty() && chain.front().id == kRelationId; }

Chain with_halo(Chain chain, const DataType& type) {
  if (!type.is_number() || type.size < 4 || std::ranges::count(chain, kHalo) != 0) return chain;
  chain.insert(chain.begin() + (refers(chain) ? 1 : 0), kHalo);
  return chain;
}

}  // namespace forebay::codec
