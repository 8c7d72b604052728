#include "view/source/step.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/nearest.h"

namespace forebay::view {

void ReadCost::add(const ReadCost& other) {
  read_bytes += other.read_bytes;
  decoded_bytes += other.decoded_bytes;
  frames += other.frames;
  cached += other.cached;
}

Result<size_t> find_array(const Step& step, std::string_view name) {
  const auto& arrays = step.arrays();
  const auto find = [&](std::string_view wanted) -> std::optional<size_t> {
    const auto at =
        std::ranges::lower_bound(arrays, wanted, {}, [](const Array& array) { return std::string_view(array.name); });
    if (at == arrays.end() || at->name != wanted) return {};
    return static_cast<size_t>(at - arrays.begin());
  };
  if (const auto found = find(name)) return *found;
  const auto other = name.starts_with('/') ? find(name.substr(1)) : find("/" + std::string(name));
  if (other) return *other;
  std::vector<std::string> names;
  for (const Array& array : arrays) names.push_back(array.name);
  return fail(ErrorKind::not_found, fmt::format("step {} has no array '{}'", step.info().number, name), {}, {},
              nearest_hint(name, names, "'forebay read STORE' lists them"));
}

}  // namespace forebay::view
