#include "view/place/layout_text.h"

#include <algorithm>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/layout.h"

namespace forebay::view {
namespace {

constexpr size_t kMostArrays = 10000;
constexpr int64_t kMostSize = int64_t{1} << 48;

std::unexpected<Error> bad(uint32_t line, std::string_view what) {
  return fail(ErrorKind::invalid_argument, fmt::format("layout, line {}: {}", line, what), {}, {},
              "docs/reading.md, \"Layouts\", has the language and an example");
}

std::unexpected<Error> bad(const toml::node& where, std::string_view what) {
  return bad(where.source().begin.line, what);
}

Result<std::string> layout_text(const toml::table& table, std::string_view key, std::string otherwise) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return otherwise;
  const auto text = node->value_exact<std::string>();
  if (!text || text->empty()) return bad(*node, fmt::format("'{}' must be a text", key));
  return *text;
}

Result<Shape> sizes(const toml::table& table, std::string_view key, int64_t least) {
  Shape shape;
  const toml::node* node = table.get(key);
  if (node == nullptr) return shape;
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty() || list->size() > kMaxDims)
    return bad(*node, fmt::format("'{}' must be a list of numbers, the slowest dimension first", key));
  for (const toml::node& each : *list) {
    const auto value = each.value_exact<int64_t>();
    if (!value || *value < least || *value > kMostSize)
      return bad(each, fmt::format("'{}' must be whole numbers from {}", key, least));
    shape.push_back(static_cast<uint64_t>(*value));
  }
  if (element_count(shape) == UINT64_MAX) return bad(*node, fmt::format("'{}' is too large", key));
  return shape;
}

Result<std::vector<std::string>> references(const toml::table& table) {
  std::vector<std::string> found;
  const toml::node* node = table.get("offset");
  if (node == nullptr) return found;
  const auto take = [&](const toml::node& each) -> Result<void> {
    const auto text = each.value_exact<std::string>();
    if (!text || (!text->starts_with('/') && !text->starts_with('@')) || text->ends_with('@'))
      return bad(each, "'offset' must be \"/variable\", \"/object@attribute\" or \"@attribute\", or a list of them");
    found.push_back(*text);
    return {};
  };
  const toml::array* list = node->as_array();
  if (list == nullptr) {
    FOREBAY_CHECK(take(*node));
    return found;
  }
  if (list->empty() || list->size() > kMaxDims) return bad(*node, "'offset' must have an entry for each dimension");
  for (const toml::node& each : *list) FOREBAY_CHECK(take(each));
  return found;
}

// That what was given is enough, and of one number of dimensions.
Result<void> check_dimensions(const toml::table& table, const LayoutArray& array) {
  if (array.ranks.empty() == array.offset.empty())
    return bad(table, fmt::format("'{}' must have either 'ranks' or 'offset'", array.name));
  if (!array.offset.empty() && array.shape.empty())
    return bad(table, fmt::format("'{}' has an 'offset' and must have a 'shape', too", array.name));
  const size_t dimensions = array.ranks.empty() ? array.shape.size() : array.ranks.size();
  const auto check = [&](std::string_view key, size_t size) -> Result<void> {
    if (size == 0 || size == dimensions) return {};
    return bad(*table.get(key), fmt::format("'{}' has {} dimensions, and the array has {}", key, size, dimensions));
  };
  FOREBAY_CHECK(check("shape", array.shape.size()));
  FOREBAY_CHECK(check("ghosts", array.ghosts.size()));
  if (array.offset.size() == 1) return {};
  return check("offset", array.offset.size());
}

Result<LayoutArray> parse_array(const toml::table& table) {
  constexpr std::string_view kKeys[] = {"name",  "variables", "files",  "shape", "ranks",
                                        "order", "ghosts",    "offset", "base"};
  for (const auto& [key, value] : table)
    if (std::ranges::find(kKeys, key.str()) == std::end(kKeys))
      return bad(key.source().begin.line, fmt::format("'{}' is not a known key", key.str()));
  LayoutArray array{.line = table.source().begin.line};
  FOREBAY_TRY(array.name, layout_text(table, "name", ""));
  if (array.name.empty()) return bad(table, "'name' is missing");
  FOREBAY_TRY(array.variables, layout_text(table, "variables", "/" + array.name));
  FOREBAY_TRY(array.files, layout_text(table, "files", "*"));
  FOREBAY_TRY(array.shape, sizes(table, "shape", 1));
  FOREBAY_TRY(array.ranks, sizes(table, "ranks", 1));
  FOREBAY_TRY(array.ghosts, sizes(table, "ghosts", 0));
  FOREBAY_TRY(array.offset, references(table));
  FOREBAY_TRY(const std::string order, layout_text(table, "order", "c"));
  if (order != "c" && order != "fortran") return bad(*table.get("order"), "'order' must be \"c\" or \"fortran\"");
  array.is_fortran = order == "fortran";
  if (const toml::node* base = table.get("base")) {
    const auto value = base->value_exact<int64_t>();
    if (!value || *value < -kMostSize || *value > kMostSize) return bad(*base, "'base' must be a whole number");
    array.base = *value;
  }
  FOREBAY_CHECK(check_dimensions(table, array));
  return array;
}

}  // namespace

Result<std::vector<LayoutArray>> parse_layout(std::string_view text) {
  try {
    const toml::table table = toml::parse(text);
    for (const auto& [key, value] : table)
      if (key.str() != "array") return bad(key.source().begin.line, fmt::format("'{}' is not a known key", key.str()));
    const toml::node* node = table.get("array");
    const toml::array* entries = node == nullptr ? nullptr : node->as_array();
    if (entries == nullptr || entries->empty() || entries->size() > kMostArrays)
      return bad(table, "there is no [[array]]");
    std::vector<LayoutArray> arrays;
    for (const toml::node& entry : *entries) {
      const toml::table* fields = entry.as_table();
      if (fields == nullptr) return bad(entry, "write [[array]]");
      FOREBAY_TRY(arrays.emplace_back(), parse_array(*fields));
    }
    return arrays;
  } catch (const toml::parse_error& error) {
    return bad(error.source().begin.line, error.description());
  }
}

}  // namespace forebay::view
