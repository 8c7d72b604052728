#include "codec/chain.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/nearest.h"
#include "codec/codec_ids.h"
#include "codec/entries/entries.h"
#include "codec/recipe.h"
#include "codec/stages.h"

namespace forebay::codec {
namespace {

// How the output of a stage, of `size` bytes, looks to the next one. corrupt if the stage cannot write so many.
Result<FrameShape> shape_after(const Codec& codec, const Context& context, uint64_t size, uint64_t in_size) {
  if (codec.is_transform()) {
    FOREBAY_TRY(FrameShape after, codec.output_shape(context));
    if (after.element_total() * after.type.size == size) return after;
  } else if (size < in_size) {
    return FrameShape{kBytes, {Block{{1, 1, 1, size}}}};
  }
  return fail(ErrorKind::corrupt, fmt::format("impossible size after codec {}", codec.name()));
}

std::vector<std::string> codec_names() {
  std::vector<std::string> names;
  for (const Codec* codec : all_codecs()) names.emplace_back(codec->name());
  return names;
}

Result<Stage> parse_stage(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const Codec* codec = find_codec(name);
  if (codec == nullptr)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not a codec", name), {}, {},
                nearest_hint(name, codec_names(), "'forebay --version' lists the codecs"));
  if (!codec->is_lossless())
    return fail(ErrorKind::invalid_argument, fmt::format("codec '{}' is not lossless", name), {}, {},
                "name the variables and a bound with --lossy");
  Stage stage{.id = codec->id()};
  if (colon == std::string_view::npos) return stage;
  const std::string_view digits = text.substr(colon + 1);
  unsigned level = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), level);
  if (error != std::errc() || end != digits.data() + digits.size() || level > codec->max_level())
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is no level of codec {} (0 to {})", digits, name, codec->max_level()));
  stage.level = static_cast<uint8_t>(level);
  return stage;
}

// What all parameters of a recipe may take, beside what is written of every stage.
constexpr size_t kParameterRoom = kMaxRecipeBytes - 256;

// The largest buffer that one stage of `chain` may write.
uint64_t largest_bound(const Chain& chain, uint64_t raw_bytes) {
  uint64_t bound = raw_bytes;
  for (const Stage& stage : chain)
    if (const Codec* codec = find_codec(stage.id)) bound = std::max<uint64_t>(bound, codec->bound(raw_bytes));
  return bound;
}

// What decode() must know of a recipe before it allocates: every codec is there, transforms write what they say, coders
// shrink.
struct DecodeStep {
  const Codec* codec;
  Stage stage;
  FrameShape shape;  // of its output
  size_t size;       // of its output
};

// Of a codec that this build may lack.
std::string name_of(uint16_t id) {
  switch (id) {
    case kLz4Id:
      return "lz4";
    case kZfpId:
      return "zfp, which stores with loss";
    default:
      return std::to_string(id);
  }
}

Result<std::vector<DecodeStep>> plan_decode(std::span<const Step> steps, const FrameShape& shape, size_t raw_size,
                                            size_t payload_size) {
  std::vector<DecodeStep> plan;
  plan.reserve(steps.size());
  FrameShape now = shape;
  uint64_t size = raw_size;
  for (const Step& step : steps) {
    const Codec* codec = find_codec(step.stage.id);
    if (codec == nullptr)
      return fail(ErrorKind::unsupported, fmt::format("this build lacks codec {}", name_of(step.stage.id)), {}, {},
                  "build Forebay with all codecs");
    if (step.stage.level > codec->max_level() || !codec->accepts(now))
      return fail(ErrorKind::corrupt, fmt::format("codec {} cannot have encoded this frame", codec->name()));
    const Context context{now, step.stage.level, step.stage.parameters};
    FOREBAY_TRY(FrameShape after, shape_after(*codec, context, step.size, size));
    plan.push_back({codec, step.stage, std::move(now), static_cast<size_t>(size)});
    now = std::move(after);
    size = step.size;
  }
  if (size != payload_size) return fail(ErrorKind::corrupt, "payload of another size than its recipe says");
  return plan;
}

}  // namespace

bool describes(const FrameShape& shape, size_t raw_size) {
  if (!shape.type.is_valid()) return false;
  const uint64_t total = raw_size / shape.type.size;
  uint64_t elements = 0;
  for (const Block& block : shape.blocks) {
    const uint64_t count = element_count(block.dims);
    if (count > total - elements) return false;
    elements += count;
  }
  return elements * shape.type.size == raw_size;
}

std::string to_string(const Chain& chain) {
  if (chain.empty()) return "none";
  std::string text;
  for (const Stage& stage : chain) {
    if (!text.empty()) text += ',';
    const Codec* codec = find_codec(stage.id);
    text += codec != nullptr ? std::string(codec->name()) : std::to_string(stage.id);
    if (stage.level != 0) text += fmt::format(":{}", stage.level);
  }
  return text;
}

Result<Chain> parse_chain(std::string_view text) {
  Chain chain;
  if (text == "none") return chain;
  bool coded = false;
  while (true) {
    const size_t comma = text.find(',');
    FOREBAY_TRY(const Stage stage, parse_stage(text.substr(0, comma)));
    const Codec& codec = *find_codec(stage.id);
    if (codec.is_transform() && coded)
      return fail(ErrorKind::invalid_argument, fmt::format("transform '{}' cannot follow a coder", codec.name()));
    coded = coded || !codec.is_transform();
    chain.push_back(stage);
    if (chain.size() > kMaxChainStages)
      return fail(ErrorKind::invalid_argument, fmt::format("more than {} codecs in a chain", kMaxChainStages));
    if (comma == std::string_view::npos) return chain;
    text.remove_prefix(comma + 1);
  }
}

Encoded encode(const Chain& chain, const FrameShape& shape, std::span<const std::byte> raw, References references) {
  const size_t capacity = static_cast<size_t>(largest_bound(chain, raw.size()));
  Buffer to, from;  // the next stage's output, and its input after the first stage
  FrameShape now = shape;
  std::span<const std::byte> in = raw;
  std::vector<Step> steps;
  size_t parameter_room = kParameterRoom, planes = 1;
  for (Stage stage : chain) {
    const Codec* codec = find_codec(stage.id);
    if (codec == nullptr || in.empty() || !codec->accepts(now)) continue;
    if (has_parameters(stage.id)) {
      if (stage.parameters.empty()) stage.parameters = codec->fit({now, stage.level, {}, references}, in);
      if (stage.parameters.empty() || stage.parameters.size() > parameter_room) continue;
    }
    if (to.capacity() == 0) to = Buffer(capacity);
    to.resize(codec->bound(in.size()));
    const size_t size = codec->encode({now, stage.level, stage.parameters, references, planes}, in, to.span());
    if (size == 0) continue;
    auto after = shape_after(*codec, {now, stage.level, stage.parameters}, size, in.size());
    if (!after) continue;
    to.resize(size);
    std::swap(to, from);
    in = from.span();
    now = std::move(*after);
    planes = stage.id == kShuffleId ? now.type.size : 1;
    parameter_room -= stage.parameters.size();
    steps.push_back({std::move(stage), size});
  }
  Bytes recipe = encode_recipe(steps);
  if (in.size() < raw.size() && recipe.size() < raw.size() - in.size()) return {std::move(from), std::move(recipe)};
  if (to.capacity() < raw.size()) to = std::move(from);
  if (to.capacity() < raw.size()) to = Buffer(raw.size());
  to.resize(raw.size());
  if (!raw.empty()) std::memcpy(to.data(), raw.data(), raw.size());
  return {std::move(to), {}};
}

Result<void> decode(std::span<const std::byte> recipe, const FrameShape& shape, std::span<const std::byte> payload,
                    std::span<std::byte> raw, References references) {
  if (!describes(shape, raw.size())) return fail(ErrorKind::corrupt, "a frame of another size than its blocks");
  FOREBAY_TRY(const std::vector<Step> steps, decode_recipe(recipe));
  if (has_entries(steps)) return decode_entries(steps, shape, payload, raw, references);
  return decode_stages(steps, shape, payload, raw, references);
}

Result<void> decode_stages(std::span<const Step> steps, const FrameShape& shape, std::span<const std::byte> payload,
                           std::span<std::byte> raw, References references) {
  FOREBAY_TRY(const std::vector<DecodeStep> plan, plan_decode(steps, shape, raw.size(), payload.size()));
  if (plan.empty()) {
    if (!raw.empty()) std::memcpy(raw.data(), payload.data(), raw.size());
    return {};
  }
  // Two buffers take turns, one of them `raw`, so that the first stage's input is decoded into `raw` at last.
  Buffer spare(plan.size() > 1 ? raw.size() : 0);
  std::span<const std::byte> in = payload;
  for (size_t i = plan.size(); i-- > 0;) {
    const DecodeStep& step = plan[i];
    const std::span<std::byte> out = (i % 2 == 0 ? raw : spare.span()).first(step.size);
    const Context context{step.shape, step.stage.level, step.stage.parameters, references};
    FOREBAY_CHECK(step.codec->decode(context, in, out));
    in = out;
  }
  return {};
}

Result<Chain> chain_of(std::span<const std::byte> recipe) {
  FOREBAY_TRY(const std::vector<Step> steps, decode_recipe(recipe));
  if (has_entries(steps)) {
    FOREBAY_TRY(EntryTable table, read_entry_table(steps));
    return std::move(table.chain);
  }
  Chain chain;
  for (const Step& step : steps) chain.push_back(step.stage);
  return chain;
}

uint64_t encode_bytes(const Chain& chain, uint64_t raw_bytes) {
  uint64_t scratch = 0;
  for (const Stage& stage : chain)
    if (const Codec* codec = find_codec(stage.id))
      scratch = std::max<uint64_t>(scratch, codec->scratch_bytes(stage.level, raw_bytes));
  const uint64_t buffers = chain.size() > 1 ? 2 : 1;
  return buffers * largest_bound(chain, raw_bytes) + scratch;
}

uint64_t result_bytes(const Chain& chain, uint64_t raw_bytes) { return largest_bound(chain, raw_bytes); }

uint64_t decode_bytes(std::span<const std::byte> recipe, uint64_t raw_bytes) {
  const Result<Chain> chain = chain_of(recipe);
  return chain ? decode_bytes(*chain, raw_bytes) : 0;
}

uint64_t decode_bytes(const Chain& chain, uint64_t raw_bytes) {
  uint64_t scratch = 0;
  for (const Stage& stage : chain)
    if (const Codec* codec = find_codec(stage.id); codec != nullptr && stage.level <= codec->max_level())
      scratch = std::max<uint64_t>(scratch, codec->decode_scratch_bytes(stage.level, raw_bytes));
  return scratch + (chain.size() > 1 ? raw_bytes : 0);
}

}  // namespace forebay::codec
