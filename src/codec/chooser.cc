#include "codec/chooser.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "codec/codec_ids.h"
#include "codec/trial.h"

namespace forebay::codec {
namespace {

const Stage kShuffle{kShuffleId, 0, {}}, kBitshuffle{kBitshuffleId, 0, {}};
const Stage kFpc2{kFpcId, 2, {}}, kFpzip1d{kFpzip1dId, 0, {}}, kFpzip{kFpzipId, 0, {}};
const Stage kLz4{kLz4Id, 0, {}}, kDeflate6{kDeflateId, 6, {}};
const Stage kZstd1{kZstdId, 1, {}}, kZstd3{kZstdId, 3, {}}, kZstdMax{kZstdId, 9, {}};
const Stage kFitted{kFittedId, 0, {}}, kLch{kLchId, 0, {}}, kLchMax{kLchId, 1, {}}, kHalo{kHaloId, 0, {}};

Stage lorenzo(uint8_t order) { return {kLorenzoId, order, {}}; }

constexpr uint64_t kSparseRatio = 10;  // of a sample that shrinks to so little that other rules hold
constexpr uint64_t kLargeSampleBytes = 4 << 20;

constexpr uint64_t kTinyVariableBytes = 100;  // mcrEngine section 6.1: such variables skip the first pass

bool is_available(const Chain& chain) {
  return std::ranges::all_of(chain, [](const Stage& stage) { return find_codec(stage.id) != nullptr; });
}

// The ways of turning elements into something that a coder likes, in the order of preference.
std::vector<Chain> transforms(const DataType& type) {
  if (type.size == 1)
    return type.is_number() ? std::vector<Chain>{{}, {lorenzo(0)}, {lorenzo(1)}} : std::vector<Chain>{{}};
  if (!type.is_number()) return {{kShuffle}, {}};
  return {{kShuffle}, {lorenzo(0), kShuffle}, {lorenzo(1), kShuffle}, {lorenzo(2), kShuffle}, {}};
}

Chain join(Chain chain, Stage coder) {
  chain.push_back(coder);
  return chain;
}

std::vector<Chain> with_coders(const std::vector<Chain>& firsts, std::initializer_list<Stage> coders) {
  std::vector<Chain> chains;
  for (const Stage& coder : coders)
    for (const Chain& first : firsts) chains.push_back(join(first, coder));
  return chains;
}

// The paper's first pass by type (mcrEngine section 6.1). Where the build lacks the library, only the second pass.
Chain paper_chain(const DataType& type) {
  Chain chain{kLz4, kDeflate6};
  if (type.kind == Kind::floating && type.size == 8) chain = {kFpc2, kDeflate6};
  if (type.kind == Kind::floating && type.size == 4) chain = {kFpzip1d, kDeflate6};
  return is_available(chain) ? chain : Chain{kDeflate6};
}

// Doubles have more bytes that only a search for matches can save, and fewer elements to search per byte.
Stage balanced_coder(const DataType& type) { return type.size == 8 ? kZstd3 : kZstd1; }

bool is_float(const DataType& type) { return type.kind == Kind::floating && (type.size == 4 || type.size == 8); }

// The chains of `max`, but for those that refer to other frames. `classic` are transforms for an LZ coder.
std::vector<Chain> max_candidates(const DataType& type, const std::vector<Chain>& classic) {
  std::vector<Chain> chains = with_coders(classic, {kZstd3});
  if (type.is_number() && type.size > 1) chains.push_back({lorenzo(0), kBitshuffle, kZstd3});
  if (is_float(type)) chains.insert(chains.end(), {{kFitted, kLchMax}, {kFitted, kShuffle, kZstd3}});
  return chains;
}

// With a prediction from other variables, whose residuals no transform improves.
std::vector<Chain> related_candidates(const Bytes& parameters) {
  const Stage relation{kRelationId, 0, parameters};
  return {{relation, kLchMax}, {relation, kShuffle, kZstd3}, {relation, kBitshuffle, kZstd3}};
}

bool refers(const Chain& chain) { return !chain.empty() && chain.front().id == kRelationId; }

// With a look for cells that copy others, before anything else that works on the cells of this frame alone. It finds
// none in a sample, and leaves itself out where it finds none in the frame.
Chain with_halo(Chain chain, const DataType& type) {
  if (!type.is_number() || type.size < 4) return chain;
  chain.insert(chain.begin() + (refers(chain) ? 1 : 0), kHalo);
  return chain;
}

// The best of `chains` on a sample. Where they shrink it to little it is repetition that counts, of which a sample sees
// too little; but then they are fast, and are tried on most of the frame.
Trial best_of(const std::vector<Chain>& chains, const FrameShape& shape, std::span<const std::byte> raw,
              References references) {
  Trial trial = best_by_trial(chains, shape, raw, trial_sample_bytes(raw.size()), references);
  if (refers(trial.chain) || trial.sample_bytes < kSparseRatio * trial.encoded_bytes) return trial;
  std::vector<Chain> alone;
  std::ranges::remove_copy_if(chains, std::back_inserter(alone), refers);
  return best_by_trial(alone, shape, raw, kLargeSampleBytes, {});
}

// Where a sample shrinks to little, a longer search for matches costs little; where it shrinks to nothing, there is
// nothing to gain.
Chain with_longer_search(Trial trial) {
  constexpr uint64_t kConstantRatio = 200;
  const bool is_sparse = trial.sample_bytes > kSparseRatio * trial.encoded_bytes &&
                         trial.sample_bytes < kConstantRatio * trial.encoded_bytes;
  if (trial.chain.back() == kZstd3 && is_sparse) trial.chain.back() = kZstdMax;
  return std::move(trial.chain);
}

bool only_tiny_variables(const FrameShape& shape) {
  return std::ranges::all_of(shape.blocks,
                             [&](const Block& block) { return block.count() * shape.type.size < kTinyVariableBytes; });
}

std::unexpected<Error> unknown_profile(std::string_view text) {
  std::vector<std::string> names;
  for (const ProfileInfo& profile : profiles()) names.emplace_back(profile.name);
  const std::string all = fmt::format("profiles are {}", fmt::join(names, ", "));
  for (const Codec* codec : all_codecs()) names.emplace_back(codec->name());
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is neither a profile nor a codec", text), {}, {},
              nearest_hint(text, names, all));
}

}  // namespace

Result<Profile> Profile::parse(std::string_view text) {
  Profile profile;
  profile.name_ = text;
  const auto& all = profiles();
  const auto found = std::ranges::find(all, text, &ProfileInfo::name);
  if (found != all.end()) {
    profile.policy_ = static_cast<Policy>(found - all.begin());
    return profile;
  }
  profile.policy_ = Policy::chain;
  auto chain = parse_chain(text);
  const bool is_one_word = text.find_first_of(",:") == text.npos;
  if (!chain && is_one_word && find_codec(text) == nullptr) return unknown_profile(text);
  FOREBAY_TRY(profile.chain_, std::move(chain));
  return profile;
}

Chain Profile::choose(const FrameShape& shape, std::span<const std::byte> raw, const Related& related) const {
  switch (policy_) {
    case Policy::none:
      return {};
    case Policy::gzip:
      return {kDeflate6};
    case Policy::paper:
      return only_tiny_variables(shape) ? Chain{kDeflate6} : paper_chain(shape.type);
    case Policy::fast:
      return join(best_by_estimate(transforms(shape.type), shape, raw), kZstd1);
    case Policy::balanced: {
      Chain classic = join(best_by_estimate(transforms(shape.type), shape, raw), balanced_coder(shape.type));
      if (!is_float(shape.type)) return with_halo(std::move(classic), shape.type);
      return with_halo(best_of({classic, {kFitted, kLch}}, shape, raw, {}).chain, shape.type);
    }
    case Policy::max: {
      std::vector<Chain> chains = max_candidates(shape.type, {best_by_estimate(transforms(shape.type), shape, raw)});
      if (!related.parameters.empty())
        std::ranges::move(related_candidates(related.parameters), std::back_inserter(chains));
      return with_halo(with_longer_search(best_of(chains, shape, raw, related.references)), shape.type);
    }
    case Policy::chain:
      return chain_;
  }
  return {};
}

std::vector<Chain> Profile::candidates(const DataType& type) const {
  switch (policy_) {
    case Policy::none:
      return {{}};
    case Policy::gzip:
      return {{kDeflate6}};
    case Policy::paper:
      return {{kDeflate6}, paper_chain(type)};
    case Policy::fast:
      return with_coders(transforms(type), {kZstd1});
    case Policy::balanced: {
      std::vector<Chain> chains = with_coders(transforms(type), {balanced_coder(type)});
      if (is_float(type)) chains.push_back({kFitted, kLch});
      for (Chain& chain : chains) chain = with_halo(std::move(chain), type);
      return chains;
    }
    case Policy::max: {
      std::vector<Chain> chains = max_candidates(type, transforms(type));
      for (size_t i = chains.size(); i-- > 0;)
        if (chains[i].back() == kZstd3) {
          chains.push_back(chains[i]);
          chains.back().back() = kZstdMax;
        }
      for (Chain& chain : chains) chain = with_halo(std::move(chain), type);
      return chains;
    }
    case Policy::chain:
      return {chain_};
  }
  return {};
}

uint64_t Profile::frame_bytes() const {
  if (policy_ == Policy::max) return 16 << 20;
  return policy_ == Policy::balanced ? 8 << 20 : 4 << 20;
}

uint64_t Profile::memory_bytes(uint64_t raw_bytes) const {
  constexpr DataType kTypes[] = {
      kBytes, {Kind::floating, ByteOrder::little, 8}, {Kind::floating, ByteOrder::little, 4}};
  uint64_t encoding = 0;
  for (const DataType& type : kTypes)
    for (const Chain& chain : candidates(type)) encoding = std::max(encoding, encode_bytes(chain, raw_bytes));
  uint64_t choosing = 0;
  if (policy_ == Policy::fast || policy_ == Policy::balanced || policy_ == Policy::max)
    choosing += estimate_memory_bytes(raw_bytes);
  if (policy_ == Policy::balanced || policy_ == Policy::max)
    choosing += trial_memory_bytes(trial_sample_bytes(raw_bytes)) + 2 * std::min(raw_bytes, kLargeSampleBytes);
  return encoding + choosing;
}

const std::vector<ProfileInfo>& profiles() {
  static const std::vector<ProfileInfo> all = {
      {"none", "store the data as they are"},
      {"gzip", "DEFLATE level 6, as gzip does"},
      {"paper", "the pipeline of the mcrEngine paper: FPC, fpzip or an LZ by datatype, then DEFLATE level 6"},
      {"fast", "the least time that still makes data much smaller than gzip does"},
      {"balanced",
       "the default: predictions fitted to the data, and no ghost zones; about a third of the speed of fast"},
      {"max", "as small as it gets: variables are predicted from each other, too; somewhat slower than balanced"},
  };
  return all;
}

}  // namespace forebay::codec
