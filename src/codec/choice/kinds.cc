#include "codec/choice/kinds.h"

#include <algorithm>
#include <bitset>

#include "codec/choice/profile_chains.h"
#include "codec/choice/repeats.h"
#include "codec/choice/trial.h"
#include "codec/multiples/multiples.h"
#include "codec/text/text.h"

namespace forebay::codec {
namespace {

constexpr uint64_t kNoiseRatio = 2;     // that a sample of noise does not reach
constexpr uint64_t kClearPercent = 75;  // of what other chains make, at which a chain need not be compared with more

const Stage kMultiples{kMultiplesId, 0, {}}, kPlanesOfNumbers{kPlanesId, 1, {}};
const Stage kBits{kBitshuffleId, 0, {}}, kColumns{kColumnsId, 0, {}};
const Stage kLine{kLorenzoId, 1, {}}, kNeighbours{kLorenzoId, 0, {}}, kSplit{kShuffleId, 0, {}};

std::vector<Chain> multiples_chains(Effort effort) {
  const Stage lch{kLchId, static_cast<uint8_t>(effort == Effort::max ? 1 : 0), {}};
  const Stage& zstd = effort == Effort::fast ? kZstd1 : effort == Effort::balanced ? kZstd3 : kZstd9;
  std::vector<Chain> chains{{kMultiples, kSplit, zstd}, {kMultiples, kNeighbours, kSplit, zstd}, {kMultiples, zstd}};
  if (effort != Effort::fast)
    chains.insert(chains.end(),
                  {{kMultiples, kNeighbours, lch}, {kMultiples, kLine, lch}, {kMultiples, kNeighbours, kLine, lch}});
  return chains;
}

std::vector<Chain> bits_chains(Effort effort) {
  std::vector<Chain> chains{{kBits, kZstd1}};
  if (effort != Effort::fast) chains.push_back({kBits, kZstd3});
  if (effort == Effort::max) chains.push_back({kBits, kZstd9});
  return chains;
}

Chain text_chain(Effort effort) {
  constexpr text::Effort kEfforts[] = {text::Effort::fast, text::Effort::balanced, text::Effort::max};
  return {{kTextId, static_cast<uint8_t>(kEfforts[static_cast<size_t>(effort)]), {}}};
}

// Whether single bytes have at most 16 values, as masks and levels do, judged by 4,096 of them.
bool has_few_values(const DataType& type, std::span<const std::byte> raw) {
  constexpr size_t kLooks = 4096, kFew = 16;
  if (type.size != 1 || raw.empty()) return false;
  std::bitset<256> seen;
  const size_t step = raw.size() / kLooks + 1;
  for (size_t i = 0; i < raw.size(); i += step) seen.set(std::to_integer<size_t>(raw[i]));
  return seen.count() <= kFew;
}

Trial best_of_sample(const std::vector<Chain>& chains, const FrameShape& shape, std::span<const std::byte> raw) {
  return best_by_trial(chains, shape, raw, trial_sample_bytes(raw.size()), {});
}

std::vector<Chain> records_chains(Effort effort) {
  const Stage& zstd = effort == Effort::fast ? kZstd1 : effort == Effort::balanced ? kZstd3 : kZstd9;
  std::vector<Chain> chains{{kColumns, kSplit, zstd}, {kColumns, kLine, kSplit, zstd}};
  if (effort == Effort::balanced) chains.push_back({kColumns, kLine, {kLchId, 0, {}}});
  if (effort == Effort::max) chains.push_back({kColumns, kLine, {kLchId, 1, {}}});
  return chains;
}

// Whether nine tenths of the elements lie in arrays of records of 2 to 16 numbers.
bool are_records(const FrameShape& shape) {
  constexpr uint64_t kMost = 16;
  if (!shape.type.is_number() || shape.type.size == 1) return false;
  uint64_t in_records = 0;
  for (const Block& block : shape.blocks)
    if (block.dims[3] > 1 && block.dims[3] <= kMost && block.count() > 4 * block.dims[3]) in_records += block.count();
  return in_records > 0 && in_records * 10 >= shape.element_total() * 9;
}

bool has_planes(const DataType& type) { return type.size == 2 || type.size == 4 || type.size == 8; }

// Enters the best of each profile's chains. Returns whether that is clearly enough.
bool enter_best(Contest& contest, Effort effort, std::vector<Chain> (*chains)(Effort), const Chain& plain,
                const FrameShape& shape, std::span<const std::byte> raw) {
  constexpr uint64_t kWorthPercent = 97;
  constexpr unsigned kManyRepeated = 400;  // permille of the elements: other chains find these over a distance
  const uint64_t other = best_of_sample({plain}, shape, raw).encoded_bytes;
  uint64_t least = UINT64_MAX;
  for (const Effort each : {Effort::fast, Effort::balanced, Effort::max}) {
    if (each > effort) break;
    const Trial trial = best_of_sample(chains(each), shape, raw);
    if (trial.encoded_bytes * 100 > other * kWorthPercent) continue;
    contest.enter(trial.chain);
    least = std::min(least, trial.encoded_bytes);
  }
  return least != UINT64_MAX && least * 100 < other * kClearPercent &&
         find_repeats(raw, shape.type).repeated < kManyRepeated;
}

}  // namespace

bool enter_kinds_of_numbers(Contest& contest, Effort effort, const Chain& plain, const FrameShape& shape,
                            std::span<const std::byte> raw) {
  const bool has_multiples = may_be_multiples(raw, shape.type), has_records = are_records(shape);
  const bool enough = has_multiples && enter_best(contest, effort, multiples_chains, plain, shape, raw);
  return (has_records && enter_best(contest, effort, records_chains, plain, shape, raw)) || enough;
}

Chain chain_for_noise(const Chain& plain, const FrameShape& shape, std::span<const std::byte> raw) {
  if (!has_planes(shape.type) || plain != Chain{kSplit, kZstd1}) return plain;
  const Trial trial = best_of_sample({plain, {kPlanesOfNumbers}}, shape, raw);
  return trial.encoded_bytes * kNoiseRatio > trial.sample_bytes ? trial.chain : plain;
}

void enter_noise(Contest& contest, const Chain& plain, const FrameShape& shape, std::span<const std::byte> raw) {
  if (contest.size() * (kNoiseRatio + 1) < raw.size()) return;
  const Chain chain = chain_for_noise(plain, shape, raw);
  if (chain != plain) contest.enter(chain);
}

void enter_masks(Contest& contest, Effort effort, const FrameShape& shape, std::span<const std::byte> raw) {
  if (!has_few_values(shape.type, raw)) return;
  contest.compare_whole();  // they shrink to so little that they are not cut
  for (const Chain& chain : bits_chains(effort)) contest.enter(chain);
}

bool enter_text(Contest& contest, Effort effort, const Chain& plain, const FrameShape& shape,
                std::span<const std::byte> raw) {
  if (!text::is_worth_trying(shape, raw)) return false;
  contest.enter(plain);
  const uint64_t other = contest.size();
  contest.enter(text_chain(effort));
  return contest.size() * 100 < other * kClearPercent;
}

std::vector<Chain> chains_of_kinds(Effort effort, const DataType& type) {
  if (type.size == 1) {
    std::vector<Chain> chains = bits_chains(effort);
    if (!type.is_number()) chains.push_back(text_chain(effort));
    return chains;
  }
  std::vector<Chain> chains;
  if (has_planes(type)) chains.push_back({kPlanesOfNumbers});
  for (const Effort each : {Effort::fast, Effort::balanced, Effort::max}) {
    if (each > effort) break;
    if (type.is_number()) std::ranges::move(records_chains(each), std::back_inserter(chains));
    if (type.kind == Kind::floating && type.size >= 4)
      std::ranges::move(multiples_chains(each), std::back_inserter(chains));
  }
  return chains;
}

}  // namespace forebay::codec
