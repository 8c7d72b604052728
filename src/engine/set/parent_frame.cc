#include "engine/set/parent_frame.h"

#include <algorithm>

#include <fmt/format.h>

#include "codec/codec_ids.h"
#include "codec/recipe.h"
#include "store/store.h"

namespace forebay::engine {
namespace {

// The parameters: id of the container, number of the frame, length of the set's name, and both names.
constexpr size_t kFixedBytes = 8 + 4 + 1;

Bytes encode_parameters(const ParentFrame& parent) {
  Bytes out(kFixedBytes);
  store_le(out.data(), parent.container_id);
  store_le(out.data() + 8, parent.number);
  store_le(out.data() + 12, static_cast<uint8_t>(parent.set.size()));
  for (const std::string* name : {&parent.set, &parent.container})
    out.insert(out.end(), as_bytes(*name).begin(), as_bytes(*name).end());
  return out;
}

std::unexpected<Error> malformed(const char* what) {
  return fail(ErrorKind::corrupt, std::string("malformed reference to another set: ") + what);
}

// What a stage names that names a frame: hostile.
Result<ParentFrame> named_by(const codec::Step& step) {
  if (step.stage.level != 0 || step.size != 0) return malformed("it has a level or a size");
  const std::span<const std::byte> parameters = step.stage.parameters;
  if (parameters.size() < kFixedBytes) return malformed("cut off");
  const size_t set_bytes = load_le<uint8_t>(parameters.data() + 12);
  const std::string_view names = as_text(parameters.subspan(kFixedBytes));
  if (set_bytes > names.size()) return malformed("cut off");
  ParentFrame parent{.set = std::string(names.substr(0, set_bytes)),
                     .container = std::string(names.substr(set_bytes)),
                     .container_id = load_le<uint64_t>(parameters.data()),
                     .number = load_le<uint32_t>(parameters.data() + 8)};
  if (!store::is_set_name(parent.set) || !store::is_set_name(parent.container))
    return malformed("a name is not allowed");
  return parent;
}

bool begins_with(std::span<const std::byte> recipe, uint16_t id) {
  return recipe.size() >= 3 && load_le<uint16_t>(recipe.data() + 1) == id;
}

}  // namespace

std::string to_string(const ParentFrame& parent) {
  return fmt::format("frame {} of {}/{}", parent.number, parent.set, parent.container);
}

Bytes parent_recipe(const ParentFrame& parent) {
  const codec::Step step{.stage = {.id = codec::kParentFrameId, .parameters = encode_parameters(parent)}, .size = 0};
  return codec::encode_recipe({&step, 1});
}

bool is_parent_recipe(std::span<const std::byte> recipe) { return begins_with(recipe, codec::kParentFrameId); }

Result<ParentFrame> parse_parent_recipe(std::span<const std::byte> recipe) {
  FOREBAY_TRY(const auto steps, codec::decode_recipe(recipe));
  if (steps.size() != 1 || steps[0].stage.id != codec::kParentFrameId) return malformed("it is not the only stage");
  return named_by(steps[0]);
}

Bytes before_recipe(const ParentFrame& before, std::span<const std::byte> recipe) {
  auto steps = *codec::decode_recipe(recipe);
  steps.insert(steps.begin(),
               {.stage = {.id = codec::kFrameBeforeId, .parameters = encode_parameters(before)}, .size = 0});
  return codec::encode_recipe(steps);
}

bool is_before_recipe(std::span<const std::byte> recipe) { return begins_with(recipe, codec::kFrameBeforeId); }

Result<BeforeRecipe> parse_before_recipe(std::span<const std::byte> recipe) {
  FOREBAY_TRY(auto steps, codec::decode_recipe(recipe));
  if (steps.size() < 2 || steps[0].stage.id != codec::kFrameBeforeId) return malformed("nothing is predicted from it");
  BeforeRecipe result;
  FOREBAY_TRY(result.before, named_by(steps[0]));
  steps.erase(steps.begin());
  const auto names_another = [](const codec::Step& step) {
    return step.stage.id == codec::kFrameBeforeId || step.stage.id == codec::kParentFrameId;
  };
  if (std::ranges::any_of(steps, names_another)) return malformed("there are several");
  result.recipe = codec::encode_recipe(steps);
  return result;
}

}  // namespace forebay::engine
