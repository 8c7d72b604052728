#include "codec/choice/trial.h"

#include <algorithm>

#include "codec/choice/estimate.h"
#include "codec/choice/sample.h"
#include "codec/codec_ids.h"
#include "codec/own_codecs.h"
#include "codec/relation/relation.h"

namespace forebay::codec {
namespace {

constexpr unsigned kMarginPermille = 5;
constexpr size_t kEstimateFraction = 128, kMinEstimateSample = 8 << 10, kMaxEstimateSample = 32 << 10;

size_t estimate_sample_bytes(uint64_t raw_bytes) {
  return std::clamp<size_t>(raw_bytes / kEstimateFraction, kMinEstimateSample, kMaxEstimateSample);
}

// How many dimensions the most-dimensional block has.
unsigned rank_of(const FrameShape& shape) {
  unsigned rank = 0;
  for (const Block& block : shape.blocks)
    rank = std::max(rank, 4 - static_cast<unsigned>(std::ranges::count(block.dims, 1u)));
  return rank;
}

// Whether a stage of `transform` is Lorenzo with as many dimensions as level 0 uses anyway.
bool repeats_level_0(const Chain& transform, unsigned rank) {
  return std::ranges::any_of(
      transform, [&](const Stage& stage) { return stage.id == kLorenzoId && stage.level >= std::max(rank, 1u); });
}

const Stage* find_stage(const Chain& chain, uint16_t id) {
  const auto found = std::ranges::find(chain, id, &Stage::id);
  return found == chain.end() ? nullptr : &*found;
}

uint64_t estimated_bits(const Chain& transform, const Sample& sample, Bytes& residuals) {
  const size_t width = sample.shape.type.size;
  const Stage* lorenzo = find_stage(transform, kLorenzoId);
  if (lorenzo != nullptr) {
    residuals.resize(sample.bytes.size());
    find_codec(kLorenzoId)->encode({sample.shape, lorenzo->level}, sample.bytes, residuals);
  }
  const Bytes elements = telling_elements(sample, lorenzo != nullptr ? residuals : sample.bytes);
  return transform.empty() && width > 1 ? repeated_bits(elements, width) : shuffled_bits(elements, width);
}

bool is_shuffle(const Stage& stage) { return stage.id == kShuffleId || stage.id == kBitshuffleId; }

// What the stages of `chain` that are no coders make of the sample.
Bytes transformed(const Chain& chain, const Sample& sample) {
  Bytes in = sample.bytes, out(in.size());
  for (Stage stage : chain) {
    const Codec* codec = find_codec(stage.id);
    if (codec == nullptr || !codec->is_transform() || !codec->accepts(sample.shape)) continue;
    if (has_parameters(stage.id)) stage.parameters = codec->fit({sample.shape, stage.level, {}, {}}, in);
    if (has_parameters(stage.id) && stage.parameters.empty()) continue;
    if (codec->encode({sample.shape, stage.level, stage.parameters, {}}, in, out) == in.size()) in.swap(out);
  }
  return in;
}

bool is_clearly_less(uint64_t bits, uint64_t best) { return bits * 1000 < best * (1000 - kMarginPermille); }

}  // namespace

Chain best_by_estimate(std::span<const Chain> transforms, const FrameShape& shape, std::span<const std::byte> raw) {
  const Sample sample = take_sample(shape, raw, estimate_sample_bytes(raw.size()));
  const unsigned rank = rank_of(sample.shape);
  Bytes residuals;
  const Chain* best = &transforms.front();
  uint64_t best_bits = UINT64_MAX / 1000;
  for (const Chain& transform : transforms) {
    if (repeats_level_0(transform, rank)) continue;
    const uint64_t bits = estimated_bits(transform, sample, residuals);
    if (!is_clearly_less(bits, best_bits)) continue;
    best = &transform;
    best_bits = bits;
  }
  return *best;
}

Trial best_by_trial(std::span<const Chain> chains, const FrameShape& shape, std::span<const std::byte> raw,
                    uint64_t sample_bytes, References references) {
  const Sample sample = take_sample(shape, raw, sample_bytes);
  std::vector<Bytes> related;  // the same cells of the references
  for (const auto reference : references) related.push_back(take_sample(shape, reference, sample_bytes).bytes);
  const std::vector<std::span<const std::byte>> sampled_references(related.begin(), related.end());
  const unsigned rank = rank_of(sample.shape);
  const Chain* best = &chains.front();
  uint64_t best_size = UINT64_MAX;
  for (const Chain& chain : chains) {
    if (repeats_level_0(chain, rank)) continue;
    const uint64_t size = encode(chain, sample.shape, sample.bytes, sampled_references).payload.size();
    if (size >= best_size) continue;
    best = &chain;
    best_size = size;
  }
  return {.chain = *best, .sample_bytes = sample.bytes.size(), .encoded_bytes = best_size};
}

uint64_t size_by_planes(const Chain& chain, const FrameShape& shape, std::span<const std::byte> raw,
                        uint64_t sample_bytes) {
  const Sample sample = take_sample(shape, raw, sample_bytes);
  const bool has_planes = chain.size() > 1 && chain.back().id == kZstdId && is_shuffle(chain[chain.size() - 2]);
  if (!has_planes || shape.type.size == 1) return encode(chain, sample.shape, sample.bytes).payload.size();
  return zstd_size_of_parts(chain.back().level, transformed(chain, sample), shape.type.size);
}

uint64_t trial_sample_bytes(uint64_t raw_bytes) {
  constexpr uint64_t kFraction = 32, kLeast = 48 << 10, kMost = 128 << 10;
  return std::clamp(raw_bytes / kFraction, kLeast, kMost);
}

uint64_t estimate_memory_bytes(uint64_t raw_bytes) {
  constexpr uint64_t kCopies = 4, kTables = 64 << 10;  // sample, residuals, telling elements, planes
  return kCopies * 2 * estimate_sample_bytes(raw_bytes) + kTables;
}

uint64_t trial_memory_bytes(uint64_t sample_bytes) {
  constexpr uint64_t kSamples = 1 + kMaxRelationReferences + 2;  // with two buffers between transforms
  return 2 * kSamples * sample_bytes;
}

}  // namespace forebay::codec
