#include "view/place/set_attributes.h"

#include <algorithm>
#include <set>

#include "view/place/set_values.h"

namespace forebay::view {
namespace {

// Files of ranks mostly say the same.
constexpr size_t kMostFiles = 64, kMostAttributes = 1 << 16;
constexpr uint64_t kMostAttributeBytes = 16 << 20;

// Nothing for what programs cannot take: compounds and the like.
std::optional<Attribute> attribute_of(const format::FileAttribute& found) {
  Attribute attribute{.name = (found.object == "/" ? "" : found.object) + "/" + found.name};
  attribute.count = element_count(found.shape);
  attribute.value = found.value;
  if (found.is_text) {
    const bool is_one = attribute.count == 1;
    attribute.type = element_type(is_one ? io::ValueType::string : io::ValueType::string_array);
    if (is_one && !attribute.value.empty()) attribute.value.pop_back();
    return attribute;
  }
  if (!found.type.is_number()) return {};
  attribute.type = element_type(found.type);
  return attribute;
}

}  // namespace

SetAttributes attributes_of_set(const SetLook& look, std::span<const StoredArray> stored) {
  SetAttributes all;
  std::vector<Attribute>& attributes = all.attributes;
  std::set<std::string> names;
  size_t files = 0;
  uint64_t bytes = 0;
  const auto take = [&](Attribute attribute) {
    const uint64_t size = attribute.name.size() + attribute.value.size();
    if (attributes.size() >= kMostAttributes || size > kMostAttributeBytes - bytes) return;
    if (!names.insert(attribute.name).second) return;
    bytes += size;
    attributes.push_back(std::move(attribute));
  };
  for (const SetFile& file : files_with_variables(look.set(), stored)) {
    size_t found = 0;
    if (auto own = look.attributes(file.container, file.file)) {
      found = own->attributes.size();
      all.dimensions.merge(own->dimensions);
      for (const format::FileAttribute& each : own->attributes)
        if (auto attribute = attribute_of(each)) take(*std::move(attribute));
    }
    if (auto groups = look.groups(file.container, file.file)) {
      found += groups->attributes.size();
      for (Attribute& each : groups->attributes) take(std::move(each));
    }
    if (found > 0 && ++files == kMostFiles) break;
  }
  std::ranges::sort(attributes, {}, &Attribute::name);
  return all;
}

}  // namespace forebay::view
