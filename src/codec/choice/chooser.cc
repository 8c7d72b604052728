#include "codec/choice/chooser.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "codec/choice/finalists.h"
#include "codec/choice/kinds.h"
#include "codec/choice/profile_chains.h"
#include "codec/choice/trial.h"

namespace forebay::codec {
namespace {

constexpr uint64_t kEntryBytes = 256 << 10;   // of `fast` and `balanced`
constexpr uint64_t kSmallFrame = 64 << 10;    // of which it is soon known what several profiles make
constexpr uint64_t kTinyVariableBytes = 100;  // mcrEngine section 6.1: such variables skip the first pass

bool only_tiny_variables(const FrameShape& shape) {
  return std::ranges::all_of(shape.blocks,
                             [&](const Block& block) { return block.count() * shape.type.size < kTinyVariableBytes; });
}

uint64_t size_of(const Chosen& chosen) { return chosen.encoded.payload.size() + chosen.encoded.recipe.size(); }

Chosen smaller(Chosen one, Chosen other) { return size_of(other) < size_of(one) ? std::move(other) : std::move(one); }

// Whether what the lower profile makes of a frame is known soon enough to be made for comparison.
bool is_quick(const DataType& type, uint64_t raw_bytes) {
  return raw_bytes <= kSmallFrame || type.kind != Kind::floating || type.size < 4;
}

// Smaller entries may make less of these: tables of codes suit one kind of content.
bool are_multiples(const Chain& chain) { return !chain.empty() && chain.front().id == kMultiplesId; }

// The lower profiles make the same of these, but for the effort of the coders.
bool is_text(const Chain& chain) { return !chain.empty() && chain.front().id == kTextId; }

void add_new(std::vector<Chain>& chains, const Chain& chain) {
  if (std::ranges::count(chains, chain) == 0) chains.push_back(chain);
}

void add_kinds(std::vector<Chain>& chains, Effort effort, const DataType& type) {
  for (const Chain& chain : chains_of_kinds(effort, type)) add_new(chains, chain);
}

std::vector<Chain> fast_candidates(const DataType& type) {
  std::vector<Chain> chains;
  for (const Chain& transform : transforms(type)) chains.push_back(join(transform, kZstd1));
  add_kinds(chains, Effort::fast, type);
  return chains;
}

// `chain` with and without a look for copies, and if it ends so, with all efforts of `coders`.
void add_variants(std::vector<Chain>& chains, const Chain& chain, const DataType& type,
                  std::initializer_list<Stage> coders) {
  const auto add = [&](const Chain& variant) {
    add_new(chains, with_halo(variant, type));
    add_new(chains, variant);
  };
  add(chain);
  if (chain.back().id != kZstdId) return;
  for (const Stage& coder : coders) add(join(Chain(chain.begin(), chain.end() - 1), coder));
}

std::vector<Chain> balanced_candidates(const DataType& type) {
  std::vector<Chain> chains;
  for (const Chain& transform : transforms(type))
    for (const Chain& chain : balanced_chains(type, transform)) add_variants(chains, chain, type, {kZstd1, kZstd3});
  add_kinds(chains, Effort::balanced, type);
  return chains;
}

std::vector<Chain> max_candidates(const DataType& type) {
  std::vector<Chain> chains = balanced_candidates(type);
  for (const Chain& transform : transforms(type))
    for (const Chain& chain : max_chains(type, transform)) add_variants(chains, chain, type, {kZstd1, kZstd3, kZstd9});
  add_kinds(chains, Effort::max, type);
  return chains;
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

Chosen Profile::encode(const FrameShape& shape, std::span<const std::byte> raw, const Related& related) const {
  Contest contest(shape, raw, related.references, entry_bytes());
  switch (policy_) {
    case Policy::none:
      contest.enter({});
      break;
    case Policy::gzip:
      contest.enter({kDeflate6});
      break;
    case Policy::paper:
      contest.enter(only_tiny_variables(shape) ? Chain{kDeflate6} : paper_chain(shape.type));
      break;
    case Policy::fast:
      enter_fast(contest, shape, raw);
      break;
    case Policy::balanced:
      enter_balanced(contest, shape, raw);
      if (is_quick(shape.type, raw.size()) && !is_text(contest.leader()))
        return smaller(contest.take(), as_lower(Policy::fast, shape, raw));
      break;
    case Policy::max:
      enter_max(contest, shape, raw, related.parameters, related.references);
      if (is_text(contest.leader())) break;
      if (is_quick(shape.type, raw.size()) || are_multiples(contest.leader()))
        return smaller(contest.take(), as_lower(Policy::balanced, shape, raw));
      break;
    case Policy::chain:
      contest.enter(chain_);
      break;
  }
  return contest.take();
}

Chosen Profile::as_lower(Policy policy, const FrameShape& shape, std::span<const std::byte> raw) {
  Profile lower;
  lower.policy_ = policy;
  return lower.encode(shape, raw);
}

Encoded Profile::encode_as(const Chain& chain, const FrameShape& shape, std::span<const std::byte> raw,
                           const Related& related) const {
  Contest contest(shape, raw, related.references, entry_bytes());
  contest.enter(chain);
  return contest.take().encoded;
}

std::vector<Chain> Profile::difference_chains(const DataType& type) const {
  if (policy_ == Policy::fast) return fast_difference_chains();
  if (policy_ == Policy::balanced) return balanced_difference_chains(type);
  return policy_ == Policy::max ? max_difference_chains(type) : std::vector<Chain>();
}

bool Profile::uses_differences() const { return !difference_chains(kBytes).empty(); }

std::optional<Chosen> Profile::encode_difference(const FrameShape& shape, std::span<const std::byte> raw,
                                                 std::span<const std::byte> before, uint64_t alone_bytes) const {
  const auto pays = [&](uint64_t bytes) { return bytes * 100 < alone_bytes * 97; };
  const std::vector<Chain> chains = difference_chains(shape.type);
  if (chains.empty() || before.size() != raw.size() || !find_codec(kDifferenceId)->accepts(shape)) return std::nullopt;
  const std::span<const std::byte> references[] = {before};
  const Trial trial = best_by_trial(chains, shape, raw, trial_sample_bytes(raw.size()), references);
  if (trial.sample_bytes == 0 || !pays(raw.size() * trial.encoded_bytes / trial.sample_bytes)) return std::nullopt;
  Contest contest(shape, raw, references, entry_bytes());
  contest.enter(trial.chain);
  if (!pays(contest.size())) return std::nullopt;
  Chosen chosen = contest.take();
  if (!pays(size_of(chosen))) return std::nullopt;
  return chosen;
}

uint64_t Profile::difference_memory_bytes(uint64_t raw_bytes) const {
  constexpr DataType kAnyFloat{Kind::floating, ByteOrder::little, 8};  // for which there are most
  uint64_t most = 0;
  for (const Chain& chain : difference_chains(kAnyFloat))
    most = std::max(most, encode_bytes(chain, raw_bytes) + result_bytes(chain, raw_bytes));
  return most + trial_memory_bytes(trial_sample_bytes(raw_bytes));
}

uint64_t Profile::entry_bytes() const {
  if (policy_ == Policy::max) return 2 * kEntryBytes;
  return policy_ == Policy::fast || policy_ == Policy::balanced ? kEntryBytes : 0;
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
      return fast_candidates(type);
    case Policy::balanced:
      return balanced_candidates(type);
    case Policy::max:
      return max_candidates(type);
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
  const bool looks_for_repeats = policy_ == Policy::fast && raw_bytes > kEntryBytes;
  const bool compares = looks_for_repeats || policy_ == Policy::balanced || policy_ == Policy::max;
  uint64_t encoding = 0, kept = 0;
  for (const DataType& type : kTypes)
    for (const Chain& chain : candidates(type)) {
      encoding = std::max(encoding, encode_bytes(chain, raw_bytes));
      if (compares) kept = std::max(kept, result_bytes(chain, raw_bytes));
    }
  // Beside what the lower profiles make of it.
  if (policy_ == Policy::max) kept *= 3;
  if (policy_ == Policy::balanced) kept *= 2;
  uint64_t choosing = 0;
  if (policy_ == Policy::fast) choosing = estimate_memory_bytes(raw_bytes);
  if (compares) choosing = finalists_memory_bytes(raw_bytes);
  return encoding + kept + choosing;
}

const std::vector<ProfileInfo>& profiles() {
  static const std::vector<ProfileInfo> all = {
      {"none", "store the data as they are"},
      {"gzip", "DEFLATE level 6, as gzip does"},
      {"paper", "the pipeline of the mcrEngine paper: FPC, fpzip or an LZ by datatype, then DEFLATE level 6"},
      {"fast", "the least time that still makes data much smaller than gzip does"},
      {"balanced", "the default: predictions fitted to the data, and no ghost zones; slower than fast"},
      {"max", "as small as it gets: variables are predicted from each other, too; somewhat slower than balanced"},
  };
  return all;
}

}  // namespace forebay::codec
