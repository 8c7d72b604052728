#include "codec/choice/kinds.h"

#include <algorithm>

#include "codec/choice/profile_chains.h"
#include "codec/choice/repeats.h"
#include "codec/choice/trial.h"
#include "codec/multiples/multiples.h"

namespace forebay::codec {
namespace {

const Stage kMultiples{kMultiplesId, 0, {}}, kPlanesOfNumbers{kPlanesId, 1, {}};
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

bool has_planes(const DataType& type) { return type.size == 2 || type.size == 4 || type.size == 8; }

}  // namespace

bool enter_multiples(Contest& contest, Effort effort, const Chain& plain, const FrameShape& shape,
                     std::span<const std::byte> raw) {
  constexpr uint64_t kWorthPercent = 97, kClearPercent = 75;
  constexpr unsigned kSomeRepeated = 400;  // permille of the elements: other chains find these over a distance
  if (!may_be_multiples(raw, shape.type)) return false;
  const uint64_t sample_bytes = trial_sample_bytes(raw.size());
  const uint64_t other = best_by_trial({&plain, 1}, shape, raw, sample_bytes, {}).encoded_bytes;
  uint64_t least = UINT64_MAX;
  for (const Effort each : {Effort::fast, Effort::balanced, Effort::max}) {
    if (each > effort) break;
    const Trial trial = best_by_trial(multiples_chains(each), shape, raw, sample_bytes, {});
    if (trial.encoded_bytes * 100 > other * kWorthPercent) continue;
    contest.enter(trial.chain);
    least = std::min(least, trial.encoded_bytes);
  }
  return least * 100 < other * kClearPercent && find_repeats(raw, shape.type).repeated < kSomeRepeated;
}

Chain chain_for_noise(const Chain& plain, const FrameShape& shape, std::span<const std::byte> raw) {
  constexpr uint64_t kNoiseRatio = 2;  // that a sample of noise does not reach
  if (!has_planes(shape.type) || plain != Chain{kSplit, kZstd1}) return plain;
  const std::vector<Chain> chains{plain, {kPlanesOfNumbers}};
  const Trial trial = best_by_trial(chains, shape, raw, trial_sample_bytes(raw.size()), {});
  return trial.encoded_bytes * kNoiseRatio > trial.sample_bytes ? trial.chain : plain;
}

std::vector<Chain> chains_of_kinds(Effort effort, const DataType& type) {
  std::vector<Chain> chains;
  if (has_planes(type)) chains.push_back({kPlanesOfNumbers});
  if (type.kind != Kind::floating || type.size < 4) return chains;
  for (const Effort each : {Effort::fast, Effort::balanced, Effort::max})
    if (each <= effort) std::ranges::move(multiples_chains(each), std::back_inserter(chains));
  return chains;
}

}  // namespace forebay::codec
