#include "codec/choice/finalists.h"

#include <algorithm>

#include "codec/choice/kinds.h"
#include "codec/choice/repeats.h"
#include "codec/choice/trial.h"

namespace forebay::codec {
namespace {

constexpr uint64_t kSparseRatio = 10;     // of a sample that shrinks to so little that other rules hold
constexpr uint64_t kConstantRatio = 200;  // of one that shrinks to nothing
constexpr unsigned kSomeRepeated = 400, kMuchConstant = 900;  // permille of a frame's elements
constexpr unsigned kSomeFar = 200;                            // of one of opaque elements, which no transform helps

enum class Character : uint8_t {
  plain,       // a sample tells
  repetitive,  // there are repeats, on data that do not shrink to little otherwise
  sparse,      // what counts is repetition
};

bool is_small(const Trial& trial) { return trial.sample_bytes > kSparseRatio * trial.encoded_bytes; }

// Whether bytes that nobody knows come again further away than an entry reaches, which may lose much.
bool has_repeated_bytes(const FrameShape& shape, std::span<const std::byte> raw) {
  return !shape.type.is_number() && find_far_repeats(raw) > kSomeFar;
}

Character character_of(const Trial& trial, const FrameShape& shape, std::span<const std::byte> raw) {
  if (refers(trial.chain)) return Character::plain;  // it is the prediction that makes it small
  if (is_small(trial)) return Character::sparse;
  if (raw.size() <= trial.sample_bytes) return Character::plain;
  const Repeats repeats = find_repeats(raw, shape.type);
  if (repeats.constant > kMuchConstant) return Character::sparse;
  if (has_repeated_bytes(shape, raw)) return Character::repetitive;
  return repeats.repeated > kSomeRepeated ? Character::repetitive : Character::plain;
}

Chain with_coder(Chain chain, const Stage& coder) {
  chain.back() = coder;
  return chain;
}

bool ends_with(const Chain& chain, uint16_t id) { return chain.back().id == id; }

// Whether the two differ in their coder's effort only.
bool are_akin(const Chain& one, const Chain& other) {
  return one.size() == other.size() && one.back().id == other.back().id &&
         std::equal(one.begin(), one.end() - 1, other.begin());
}

// Whether the frame, of `raw_bytes`, became clearly larger than its sample made expect.
bool disappoints(const Trial& trial, uint64_t size, uint64_t raw_bytes) {
  constexpr uint64_t kTolerance = 20;  // one part in so many
  if (trial.sample_bytes == 0) return false;
  const uint64_t expected = trial.encoded_bytes * raw_bytes / trial.sample_bytes;
  return size > expected + expected / kTolerance;
}

// Whether `chain` is the sample's choice with a coder of less effort, whose smaller tables may pay: `lch` on noise.
bool is_lesser_effort(const Chain& chain, const Trial& trial, const FrameShape& shape, std::span<const std::byte> raw) {
  const bool is_noise = trial.encoded_bytes * 4 > trial.sample_bytes * 3;
  if (!is_noise || chain == trial.chain || !ends_with(chain, kLchId) || !are_akin(chain, trial.chain)) return false;
  return best_by_trial({&chain, 1}, shape, raw, trial_sample_bytes(raw.size()), {}).encoded_bytes <=
         trial.encoded_bytes;
}

// Of residual coders a sample tells the truth; where it chose one, the quickest search for matches stands for all.
bool may_rival(const Chain& chain, const Trial& trial) {
  if (chain == trial.chain || !ends_with(chain, kZstdId)) return false;
  return ends_with(trial.chain, kZstdId) || chain.back() == kZstd1;
}

// Those of `lower`, chains of lower profiles, that may become smaller than the sample's choice.
std::vector<Chain> rivals(const std::vector<Chain>& lower, const Trial& trial, const FrameShape& shape,
                          std::span<const std::byte> raw) {
  constexpr uint64_t kClosePermille = 5;
  const uint64_t sample_bytes = trial_sample_bytes(raw.size());
  const bool counts_planes = ends_with(trial.chain, kZstdId) && !refers(trial.chain);
  const uint64_t chosen = counts_planes ? size_by_planes(trial.chain, shape, raw, sample_bytes) : trial.encoded_bytes;
  std::vector<Chain> close;
  for (const Chain& chain : lower) {
    if (is_lesser_effort(chain, trial, shape, raw)) close.push_back(chain);
    if (!may_rival(chain, trial)) continue;
    if (!shape.type.is_number()) {  // a sample of text or code does not show which effort pays
      close.push_back(chain);
      continue;
    }
    const uint64_t tolerance = are_akin(chain, trial.chain) ? 0 : chosen * kClosePermille / 1000;
    if (size_by_planes(chain, shape, raw, sample_bytes) < chosen + tolerance) close.push_back(chain);
  }
  return close;
}

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

  struct Best {
    const Chain* chain = nullptr;
    uint64_t size = UINT64_MAX;
  };
  // The first of `chains`, or one of the others that is clearly smaller; null if there are none.
  Best best(const std::vector<Chain>& chains) const {
    constexpr uint64_t kMarginPercent = 1;
    Best best;
    for (const Chain& chain : chains) {
      const uint64_t size = encode(chain, shape_, raw_).payload.size();
      if (best.chain == nullptr || size < best.size - best.size * kMarginPercent / 100) best = {&chain, size};
    }
    return best;
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
void enter_leader_with_and_without_halo(Contest& contest, const DataType& type) {
  Chain other = contest.leader();
  if (!ends_with(other, kZstdId)) return;
  if (other.front().id == kHaloId)
    other.erase(other.begin());
  else
    other = with_halo(std::move(other), type);
  contest.enter(other);
}

// Enters what may be the best of a sparse frame: of `own`, and of the simple transforms with `coder`.
void enter_sparse(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw, const Chain& transform,
                  const std::vector<Chain>& own, const Stage& coder) {
  constexpr uint64_t kClose = 10;  // one part in so many, between a part and the frame
  std::vector<Chain> searched, predicted;
  for (const Chain& simple : simple_transforms(shape.type, transform)) searched.push_back(join(simple, coder));
  for (const Chain& chain : own) {
    if (chain.front().id == kFittedId)
      predicted.push_back(with_halo(chain, shape.type));
    else if (std::ranges::count(searched, chain) == 0)
      searched.push_back(chain);
  }
  contest.compare_whole();
  const Part part(shape, raw);
  const Part::Best best_searched = part.best(searched), best_predicted = part.best(predicted);
  contest.enter(join(transform, kZstd1));
  if (best_predicted.chain != nullptr && best_predicted.size <= best_searched.size + best_searched.size / kClose)
    contest.enter(*best_predicted.chain);
  if (best_predicted.chain == nullptr || best_searched.size <= best_predicted.size + best_predicted.size / kClose)
    contest.enter(*best_searched.chain);
  enter_leader_with_and_without_halo(contest, shape.type);
}

// Where a sample shrinks to little, a longer search for matches costs little; where it shrinks to nothing, there is
// nothing to gain.
bool longer_search_pays(const Trial& trial) {
  return is_small(trial) && trial.sample_bytes < kConstantRatio * trial.encoded_bytes;
}

// Enters the sample's choice, and if there is doubt, the best of `lower`. True if that is not enough: the frame becomes
// clearly larger than the sample promised.
bool enter_plain(Contest& contest, const Trial& trial, bool is_repetitive, const std::vector<Chain>& lower,
                 const FrameShape& shape, std::span<const std::byte> raw) {
  if (is_repetitive) contest.compare_whole();
  contest.enter(with_halo(trial.chain, shape.type));
  if (disappoints(trial, contest.size(), raw.size())) return true;
  if (is_repetitive) {
    if (ends_with(trial.chain, kZstdId)) contest.enter(trial.chain);
    for (const Chain& chain : lower)
      if (may_rival(chain, trial)) contest.enter(chain);
    enter_leader_with_and_without_halo(contest, shape.type);
  } else {
    for (const Chain& chain : rivals(lower, trial, shape, raw)) contest.enter(with_halo(chain, shape.type));
  }
  return false;
}

// A sample does not always tell which coder suits residuals best. The stencil is fitted once for all.
void enter_coders_of_residuals(Contest& contest) {
  Chain chain = contest.leader();
  const auto fitted = std::ranges::find(chain, uint16_t{kFittedId}, &Stage::id);
  if (fitted == chain.end()) return;
  chain.erase(fitted + 1, chain.end());
  for (const uint8_t level : {uint8_t{0}, uint8_t{1}}) contest.enter(join(chain, {kLchId, level, {}}));
}

Chain best_transform(const FrameShape& shape, std::span<const std::byte> raw) {
  return best_by_estimate(transforms(shape.type), shape, raw);
}

// Without a look at what kind of values there are.
void enter_plain_fast(Contest& contest, const Chain& plain, const FrameShape& shape, std::span<const std::byte> raw) {
  if (contest.cuts(raw.size()) && has_repeated_bytes(shape, raw)) contest.compare_whole();
  contest.enter(plain);
}

void enter_ordinary_of_balanced(Contest& contest, const Chain& transform, const FrameShape& shape,
                                std::span<const std::byte> raw) {
  const DataType& type = shape.type;
  const Chain fast = join(transform, kZstd1);
  const std::vector<Chain> own = balanced_chains(type, transform);
  if (own.size() == 1 && own.front() == fast && with_halo(fast, type) == fast)
    return enter_plain_fast(contest, fast, shape, raw);
  const Trial trial = best_by_trial(own, shape, raw, trial_sample_bytes(raw.size()), {});
  const Character character = character_of(trial, shape, raw);
  if (character == Character::sparse) return enter_sparse(contest, shape, raw, transform, own, balanced_coder(type));
  if (enter_plain(contest, trial, character == Character::repetitive, {fast}, shape, raw))
    enter_sparse(contest, shape, raw, transform, own, balanced_coder(type));
}

void enter_ordinary_of_max(Contest& contest, const Chain& transform, const FrameShape& shape,
                           std::span<const std::byte> raw, const Bytes& parameters, References references) {
  const DataType& type = shape.type;
  const std::vector<Chain> alone = max_chains(type, transform);
  std::vector<Chain> own = alone, lower = balanced_chains(type, transform);
  if (!parameters.empty()) std::ranges::move(related_chains(parameters), std::back_inserter(own));
  const Chain fast = join(transform, kZstd1);
  if (std::ranges::count(lower, fast) == 0) lower.push_back(fast);
  const Trial trial = best_by_trial(own, shape, raw, trial_sample_bytes(raw.size()), references);
  const Character character = character_of(trial, shape, raw);
  if (character != Character::sparse) {
    if (enter_plain(contest, trial, character == Character::repetitive, lower, shape, raw))
      enter_sparse(contest, shape, raw, transform, balanced_chains(type, transform), balanced_coder(type));
    return enter_coders_of_residuals(contest);
  }
  enter_sparse(contest, shape, raw, transform, alone, kZstd3);
  if (!ends_with(contest.leader(), kZstdId)) return;
  if (contest.leader().back() == kZstd3) contest.enter(with_coder(contest.leader(), kZstd1));
  if (longer_search_pays(trial)) contest.enter(with_coder(contest.leader(), kZstd9));
}

}  // namespace

void enter_fast(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw) {
  const Chain plain = join(best_transform(shape, raw), kZstd1);
  if (enter_text(contest, Effort::fast, plain, shape, raw)) return;
  if (enter_kinds_of_numbers(contest, Effort::fast, plain, shape, raw)) return;
  enter_plain_fast(contest, chain_for_noise(plain, shape, raw), shape, raw);
  enter_masks(contest, Effort::fast, shape, raw);
}

void enter_balanced(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw) {
  const Chain transform = best_transform(shape, raw), plain = join(transform, kZstd1);
  if (enter_text(contest, Effort::balanced, plain, shape, raw)) return;
  if (enter_kinds_of_numbers(contest, Effort::balanced, plain, shape, raw)) return;
  enter_ordinary_of_balanced(contest, transform, shape, raw);
  enter_noise(contest, plain, shape, raw);
  enter_masks(contest, Effort::balanced, shape, raw);
}

void enter_max(Contest& contest, const FrameShape& shape, std::span<const std::byte> raw, const Bytes& parameters,
               References references) {
  const Chain transform = best_transform(shape, raw), plain = join(transform, kZstd1);
  if (enter_text(contest, Effort::max, plain, shape, raw)) return;
  if (enter_kinds_of_numbers(contest, Effort::max, plain, shape, raw)) return;
  enter_ordinary_of_max(contest, transform, shape, raw, parameters, references);
  enter_noise(contest, plain, shape, raw);
  enter_masks(contest, Effort::max, shape, raw);
}

uint64_t finalists_memory_bytes(uint64_t raw_bytes) {
  return estimate_memory_bytes(raw_bytes) + trial_memory_bytes(trial_sample_bytes(raw_bytes)) +
         (raw_bytes > kFarBytes ? kRepeatsMemory : kRepeatsMemory / 2);
}

}  // namespace forebay::codec
