#include "codec/recipe.h"

#include "codec/chain.h"
#include "codec/varint.h"

namespace forebay::codec {
namespace {

std::unexpected<Error> malformed_recipe(const char* what) {
  return fail(ErrorKind::corrupt, std::string("malformed codec recipe: ") + what);
}

Result<uint64_t> take_size(std::span<const std::byte>& in) {
  if (const auto size = take_varint(in)) return *size;
  return malformed_recipe("a size is cut off or too large");
}

Result<Bytes> take_parameters(std::span<const std::byte>& in) {
  FOREBAY_TRY(const uint64_t size, take_size(in));
  if (size > kMaxParameterBytes || size > in.size()) return malformed_recipe("parameters cut off or too long");
  const auto taken = in.first(static_cast<size_t>(size));
  in = in.subspan(taken.size());
  return Bytes(taken.begin(), taken.end());
}

}  // namespace

Bytes encode_recipe(std::span<const Step> steps) {
  Bytes out;
  if (steps.empty()) return out;
  out.push_back(static_cast<std::byte>(steps.size()));
  for (const Step& step : steps) {
    out.push_back(static_cast<std::byte>(step.stage.id));
    out.push_back(static_cast<std::byte>(step.stage.id >> 8));
    out.push_back(static_cast<std::byte>(step.stage.level));
    put_varint(out, step.size);
    if (!has_parameters(step.stage.id)) continue;
    put_varint(out, step.stage.parameters.size());
    out.insert(out.end(), step.stage.parameters.begin(), step.stage.parameters.end());
  }
  return out;
}

Result<std::vector<Step>> decode_recipe(std::span<const std::byte> recipe) {
  std::vector<Step> steps;
  if (recipe.empty()) return steps;
  if (recipe.size() > kMaxRecipeBytes) return malformed_recipe("too long");
  const auto count = std::to_integer<size_t>(recipe.front());
  if (count == 0 || count > kMaxChainStages) return malformed_recipe("bad number of stages");
  recipe = recipe.subspan(1);
  for (size_t i = 0; i < count; ++i) {
    if (recipe.size() < 3) return malformed_recipe("cut off");
    Step step{.stage = {.id = load_le<uint16_t>(recipe.data()), .level = std::to_integer<uint8_t>(recipe[2])}};
    recipe = recipe.subspan(3);
    FOREBAY_TRY(step.size, take_size(recipe));
    if (has_parameters(step.stage.id)) {
      FOREBAY_TRY(step.stage.parameters, take_parameters(recipe));
    }
    steps.push_back(std::move(step));
  }
  if (!recipe.empty()) return malformed_recipe("bytes after its end");
  return steps;
}

}  // namespace forebay::codec
