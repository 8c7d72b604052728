#include "engine/set/base_frame.h"

#include <fmt/format.h>

#include "codec/codec_ids.h"
#include "codec/recipe.h"
#include "store/store.h"

namespace forebay::engine {
namespace {

// The parameters: id of the container, number of the frame, length of the set's name, and both names.
constexpr size_t kFixedBytes = 8 + 4 + 1;

Bytes encode_parameters(const BaseFrame& base) {
  Bytes out(kFixedBytes);
  store_le(out.data(), base.container_id);
  store_le(out.data() + 8, base.number);
  store_le(out.data() + 12, static_cast<uint8_t>(base.set.size()));
  for (const std::string* name : {&base.set, &base.container})
    out.insert(out.end(), as_bytes(*name).begin(), as_bytes(*name).end());
  return out;
}

std::unexpected<Error> malformed(const char* what) {
  return fail(ErrorKind::corrupt, std::string("malformed reference to another set: ") + what);
}

}  // namespace

std::string to_string(const BaseFrame& base) {
  return fmt::format("frame {} of {}/{}", base.number, base.set, base.container);
}

Bytes base_recipe(const BaseFrame& base) {
  const codec::Step step{.stage = {.id = codec::kBaseFrameId, .parameters = encode_parameters(base)}, .size = 0};
  return codec::encode_recipe({&step, 1});
}

bool is_base_recipe(std::span<const std::byte> recipe) {
  return recipe.size() >= 3 && load_le<uint16_t>(recipe.data() + 1) == codec::kBaseFrameId;
}

Result<BaseFrame> parse_base_recipe(std::span<const std::byte> recipe) {
  FOREBAY_TRY(const auto steps, codec::decode_recipe(recipe));
  if (steps.size() != 1 || steps[0].stage.id != codec::kBaseFrameId) return malformed("it is not the only stage");
  if (steps[0].stage.level != 0 || steps[0].size != 0) return malformed("it has a level or a size");
  const std::span<const std::byte> parameters = steps[0].stage.parameters;
  if (parameters.size() < kFixedBytes) return malformed("cut off");
  const size_t set_bytes = load_le<uint8_t>(parameters.data() + 12);
  const std::string_view names = as_text(parameters.subspan(kFixedBytes));
  if (set_bytes > names.size()) return malformed("cut off");
  BaseFrame base{.set = std::string(names.substr(0, set_bytes)),
                 .container = std::string(names.substr(set_bytes)),
                 .container_id = load_le<uint64_t>(parameters.data()),
                 .number = load_le<uint32_t>(parameters.data() + 8)};
  if (!store::is_set_name(base.set) || !store::is_set_name(base.container)) return malformed("a name is not allowed");
  return base;
}

}  // namespace forebay::engine
