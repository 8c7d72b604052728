// Hostile references to other sets: parse_base_recipe() accepts only what base_recipe() writes. The input is taken as a
// recipe and, so that its frame does not hide the parser, as the parameters of one.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "codec/codec_ids.h"
#include "codec/recipe.h"
#include "engine/set/base_frame.h"

using namespace forebay;

static void check(std::span<const std::byte> recipe) {
  const auto base = engine::parse_base_recipe(recipe);
  if (!base) return;
  if (!engine::is_base_recipe(recipe)) std::abort();
  const auto again = engine::parse_base_recipe(engine::base_recipe(*base));
  if (!again || *again != *base) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  check(input);
  if (size > codec::kMaxParameterBytes) return 0;
  const codec::Step step{.stage = {.id = codec::kBaseFrameId, .parameters = Bytes(input.begin(), input.end())}};
  check(codec::encode_recipe({&step, 1}));
  return 0;
}
