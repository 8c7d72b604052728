#include "codec/finalists.h"

#include <algorithm>

#include "codec/repeats.h"
#include "codec/trial.h"

namespace forebay::codec {
namespace {

constexpr uint64_t kSparseRatio = 10;  // of a sample that shrinks to so little that other rules hold
constexpr unsigned kSomeRepeated = 100, kMuchRepeated = 500, kMuchConstant = 900;  // permille of a frame's elements
constexpr uint64_t kCloseFraction = 100;  // a sample that is larger by one part in so many tells nothing for sure

enum class Character : uint8_t {
  plain,       // a sample tells
  repetitive,  // there are repeats, on data that do not shrink to little otherwise
  sparse,      // what counts is repetition
};

// How the chains do on a sample of the frame.
class Samples {
 public:
  // `lower`: what the next lower profile chooses from, and after it the chain of `fast`.
  Samples(const FrameShape& shape, std::span<const std::byte> raw, References references, std::vector<Chain> own,
          std::vector<Chain> lower)
      : chains_(std::move(own)) {
    for (Chain& chain : lower) {
      const auto found = std::ranges::find(chains_, chain);
      lower_.push_back(static_cast<size_t>(found - chains_.begin()));
      if (found == chains_.end()) chains_.push_back(std::move(chain));
    }
    const uint64_t sample_bytes = trial_sample_bytes(raw.size());
    sizes_ = sizes_by_trial(chains_, shape, raw, sample_bytes, references);
    best_ = static_cast<size_t>(std::ranges::min_element(sizes_.encoded) - sizes_.encoded.begin());
    if (refers(chains_[best_])) return;  // it is the prediction that makes it small
    if (is_small()) {
      character_ = Character::sparse;
    } else if (raw.size() > sample_bytes) {
      const Repeats repeats = find_repeats(raw, shape.type);
      if (repeats.repeated > kMuchRepeated || repeats.constant > kMuchConstant)
        character_ = Character::sparse;
      else if (repeats.repeated > kSomeRepeated)
        character_ = Character::repetitive;
    }
  }

  Character character() const { return character_; }
  const Chain& best() const { return chains_[best_]; }

  // Where a sample shrinks to little, a longer search for matches costs little; where it shrinks to nothing, there is
  // nothing to gain.
  bool longer_search_pays() const {
    constexpr uint64_t kConstantRatio = 200;
    return is_small() && sizes_.sample_bytes < kConstantRatio * sizes_.encoded[best_];
  }

  // Whether the frame, of `raw_bytes`, became clearly larger than the sample made expect.
  bool disappointed(uint64_t size, uint64_t raw_bytes) const {
    constexpr uint64_t kTolerance = 20;  // one part in so many
    const uint64_t expected = sizes_.sample_bytes == 0 ? 0 : sizes_.encoded[best_] * raw_bytes / sizes_.sample_bytes;
    return size > expected + expected / kTolerance;
  }

  // The best chain of the lower profile; null if that is best(), or if the sample says for sure that it is worse,
  // unless it is `doubtful`.
  const Chain* rival(bool doubtful) const {
    const size_t rival = *std::ranges::min_element(lower_, {}, [&](size_t i) { return sizes_.encoded[i]; });
    if (sizes_.encoded[rival] == sizes_.encoded[best_] || is_finer(rival)) return nullptr;
    return doubtful || is_close(rival) ? &chains_[rival] : nullptr;
  }
  // Whether this chain, one of those that were tried, is about as good as the best.
  bool is_close(const Chain& chain) const {
    const auto found = std::ranges::find(chains_, chain);
    return found != chains_.end() && is_close(static_cast<size_t>(found - chains_.begin()));
  }

 private:
  bool is_small() const { return sizes_.sample_bytes > kSparseRatio * sizes_.encoded[best_]; }
  bool is_close(size_t i) const {
    return sizes_.encoded[i] - sizes_.encoded[best_] <= sizes_.encoded[best_] / kCloseFraction;
  }
  // Whether the best one does the same, only with more effort in the residual coder, which never makes it worse.
  bool is_finer(size_t i) const {
    const Chain &one = chains_[best_], &other = chains_[i];
    return one.back().id == kLchId && other.back().id == kLchId && one.size() == other.size() &&
           std::equal(one.begin(), one.end() - 1, other.begin());
  }

  std::vector<Chain> chains_;
  std::vector<size_t> lower_;  // where they are in chains_
  Sizes sizes_;
  size_t best_ = 0;
  Character character_ = Character::plain;
};

Chain with_coder(Chain chain, const Stage& coder) {
  chain.back() = coder;
  return chain;
}

bool ends_with(const Chain& chain, uint16_t id) { return chain.back().id == id; }

// A run of whole blocks from the middle of a frame, about a quarter of it: repetition shows in it.
class Part {
 public:
  Part(const FrameShape& shape, std::span<const std::byte> raw) {
    shape_.type = shape.type;
    const uint64_t total = raw.size() / shape.type.size;
    uint64_t offset = 0, taken = 0;
    for (const Block& block : shape.blocks) {
      const uint64_t end = offset + block.count();
      if (end > total / 2 && taken < total / 4) {
        if (taken == 0) raw_ = raw.subspan(offset * shape.type.size);
        shape_.blocks.push_back(block);
        taken += block.count();
      }
      offset = end;
    }
    raw_ = raw_.first(taken * shape.type.size);
  }

  uint64_t size(const Chain& chain) const { return encode(chain, shape_, raw_).payload.size(); }

  // The first of `chains`, or one of the others that is clearly smaller.
  const Chain& best(const std::vector<Chain>& chains) const {
    constexpr uint64_t kMarginPercent = 1;
    const Chain* best = &chains.front();
    uint64_t best_size = size(*best);
    for (size_t i = 1; i < chains.size(); ++i) {
      const uint64_t other = size(chains[i]);
      if (other >= best_size - best_size * kMarginPercent / 100) continue;
      best = &chains[i];
      best_size = other;
    }
    return *best;
  }

 private:
  FrameShape shape_;
  std::span<const std::byte> raw_;
};

// The transforms that do well where repetition counts, the estimated one first.
std::vector<Chain> simple_transforms(const DataType& type, const Chain& estimated) {
  constexpr size_t kMost = 3;
  std::vector<Chain> simple = transforms(type);
  simple.resize(std::min(simple.size(), kMost));
  if (std::ranges::count(simple, Chain{}) == 0) simple.emplace_back();
  std::erase(simple, estimated);
  simple.insert(simple.begin(), estimated);
  return simple;
}

// Cells that are copies leave boxes behind when they are left out, which an LZ coder may like less than the copies.
void enter_leader_with_halo(Contest& contest, const DataType& type) {
  if (ends_with(contest.leader(), kZstdId) && contest.leader().front().id != kHaloId)
    contest.enter(with_halo(contest.leader(), type));
}

// What `balanced` has for a sparse frame, with `fitted` for its prediction; that may be empty.
void enter_sparse(Contest& contest, const DataType& type, const Part& part, const Chain& transform,
                  const Chain& fitted) {
  contest.enter(join(transform, kZstd1));
  std::vector<Chain> classic = simple_transforms(type, transform);
  for (Chain& chain : classic) chain.push_back(balanced_coder(type));
  contest.enter(part.best(classic));
  if (!fitted.empty()) contest.enter(with_halo(fitted, type));
  enter_leader_with_halo(contest, type);
}

// The same with what `max` has besides. Its stronger residual coder makes the weaker one superfluous.
void enter_sparse_max(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw,
                      const Chain& transform) {
  const Part part(shape, raw);
  std::vector<Chain> others = max_chains(shape.type, transform);
  others.erase(others.begin());
  const auto residual = std::ranges::find_if(others, [](const Chain& chain) { return ends_with(chain, kLchId); });
  Chain fitted;
  if (residual != others.end()) {
    fitted = *residual;
    others.erase(residual);
  }
  enter_sparse(contest, shape.type, part, transform, fitted);
  others.insert(others.begin(), contest.leader());
  contest.enter(with_halo(part.best(others), shape.type));
  if (ends_with(contest.leader(), kZstdId)) contest.enter(with_coder(contest.leader(), kZstd3));
}

Chain best_transform(const FrameShape& shape, std::span<const std::byte> raw) {
  return best_by_estimate(transforms(shape.type), shape, raw);
}

}  // namespace

void enter_balanced(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw) {
  const DataType& type = shape.type;
  const Chain transform = best_transform(shape, raw), fast = join(transform, kZstd1);
  const std::vector<Chain> own = balanced_chains(type, transform);
  if (own.size() == 1 && own.front() == fast && with_halo(fast, type) == fast) return contest.enter(fast);
  const Samples samples(shape, raw, {}, own, {fast});
  if (samples.character() == Character::sparse)
    return enter_sparse(contest, type, Part(shape, raw), transform, own.size() > 1 ? own.back() : Chain{});
  const bool is_repetitive = samples.character() == Character::repetitive;
  contest.enter(with_halo(samples.best(), type));
  if (is_repetitive) contest.enter(samples.best());
  if (is_repetitive || samples.is_close(fast) || samples.disappointed(contest.size(), raw.size())) contest.enter(fast);
}

void enter_max(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw, const Bytes& parameters,
               References references) {
  const DataType& type = shape.type;
  const Chain transform = best_transform(shape, raw), fast = join(transform, kZstd1);
  std::vector<Chain> own = max_chains(type, transform), lower = balanced_chains(type, transform);
  if (!parameters.empty()) std::ranges::move(related_chains(parameters), std::back_inserter(own));
  lower.push_back(fast);
  const Samples samples(shape, raw, references, own, lower);
  if (samples.character() == Character::sparse) {
    enter_sparse_max(contest, shape, raw, transform);
    if (samples.longer_search_pays() && ends_with(contest.leader(), kZstdId))
      contest.enter(with_coder(contest.leader(), kZstd9));
    return;
  }
  const bool is_repetitive = samples.character() == Character::repetitive;
  contest.enter(with_halo(samples.best(), type));
  if (is_repetitive) contest.enter(samples.best());
  if (samples.disappointed(contest.size(), raw.size())) return enter_balanced(contest, shape, raw);
  if (const Chain* rival = samples.rival(is_repetitive)) contest.enter(with_halo(*rival, type));
  if (is_repetitive || samples.is_close(fast)) contest.enter(fast);
}

uint64_t finalists_memory_bytes(uint64_t raw_bytes) {
  return estimate_memory_bytes(raw_bytes) + trial_memory_bytes(trial_sample_bytes(raw_bytes)) + kRepeatsMemory;
}

}  // namespace forebay::codec
