// Hostile references to other sets: parse_parent_recipe() accepts only what parent_recipe() writes. The input is taken
// as a recipe and, so that its frame does not hide the parser, as the parameters of one.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "codec/codec_ids.h"
#include "codec/recipe.h"
#include "engine/set/parent_frame.h"

using namespace forebay;

static void check(std::span<const std::byte> recipe) {
  const auto parent = engine::parse_parent_recipe(recipe);
  if (!parent) return;
  if (!engine::is_parent_recipe(recipe)) std::abort();
  const auto again = engine::parse_parent_recipe(engine::parent_recipe(*parent));
  if (!again || *again != *parent) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  check(input);
  if (size > codec::kMaxParameterBytes) return 0;
  const codec::Step step{.stage = {.id = codec::kParentFrameId, .parameters = Bytes(input.begin(), input.end())}};
  check(codec::encode_recipe({&step, 1}));
  return 0;
}
