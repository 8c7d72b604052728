// Hostile references to other sets: parse_parent_recipe() accepts only what parent_recipe() writes, and
// parse_before_recipe() what before_recipe() writes. The input is taken
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

static void check_before(std::span<const std::byte> recipe) {
  const auto before = engine::parse_before_recipe(recipe);
  if (!before) return;
  if (!engine::is_before_recipe(recipe)) std::abort();
  const auto again = engine::parse_before_recipe(engine::before_recipe(before->before, before->recipe));
  if (!again || again->before != before->before || again->recipe != before->recipe) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  check(input);
  check_before(input);
  if (size > codec::kMaxParameterBytes) return 0;
  const codec::Step step{.stage = {.id = codec::kParentFrameId, .parameters = Bytes(input.begin(), input.end())}};
  check(codec::encode_recipe({&step, 1}));
  codec::Step before = step;
  before.stage.id = codec::kFrameBeforeId;
  const codec::Step coder{.stage = {.id = codec::kZstdId}, .size = size};
  check_before(codec::encode_recipe(std::vector{before, coder}));
  return 0;
}
