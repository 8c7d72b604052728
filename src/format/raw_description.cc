#include "format/raw_description.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace forebay::format {
namespace {

std::unexpected<Error> bad(const toml::node& where, std::string_view what) {
  return fail(ErrorKind::invalid_argument,
              fmt::format("raw-binary description, line {}: {}", where.source().begin.line, what), {}, {},
              "docs/raw-binary.md has the language and an example");
}

// Refuses keys that are not known, which are mostly known ones misspelt.
Result<void> check_keys(const toml::table& table, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : table)
    if (std::ranges::find(known, key.str()) == known.end())
      return bad(value, fmt::format("'{}' is not a known key", key.str()));
  return {};
}

Result<uint64_t> parse_count(const toml::node& node, std::string_view what, int64_t least) {
  const auto value = node.value_exact<int64_t>();
  if (!value || *value < least) return bad(node, fmt::format("'{}' must be a whole number from {}", what, least));
  return static_cast<uint64_t>(*value);
}

Result<uint64_t> parse_offset(const toml::table& table) {
  const toml::node* node = table.get("offset");
  return node ? parse_count(*node, "offset", 0) : Result<uint64_t>(0);
}

Result<std::string> parse_text(const toml::table& table, std::string_view key) {
  const toml::node* node = table.get(key);
  const auto text = node ? node->value_exact<std::string>() : std::nullopt;
  if (!text || text->empty()) return bad(node ? *node : table, fmt::format("'{}' must be a text", key));
  return *text;
}

Result<Shape> parse_shape(const toml::table& table) {
  Shape shape;
  const toml::node* node = table.get("shape");
  if (!node) return shape;
  const toml::array* dims = node->as_array();
  if (!dims || dims->size() > kMaxDims)
    return bad(*node, "'shape' must be a list of sizes, the slowest dimension first");
  for (const toml::node& dim : *dims) {
    FOREBAY_TRY(shape.emplace_back(), parse_count(dim, "shape", 1));
  }
  return shape;
}

Result<std::optional<RawRepeat>> parse_repeat(const toml::table& table) {
  const toml::node* node = table.get("repeat");
  if (!node) return std::optional<RawRepeat>();
  const toml::table* fields = node->as_table();
  if (!fields || !fields->get("stride"))
    return bad(*node, "'repeat' must be a table with a stride and possibly a count");
  FOREBAY_CHECK(check_keys(*fields, {"count", "stride"}));
  RawRepeat repeat;
  FOREBAY_TRY(repeat.stride, parse_count(*fields->get("stride"), "stride", 1));
  if (const toml::node* count = fields->get("count")) {
    FOREBAY_TRY(repeat.count, parse_count(*count, "count", 1));
  }
  return std::optional(repeat);
}

Result<RawVariable> parse_variable(const toml::table& table) {
  RawVariable variable;
  FOREBAY_TRY(variable.name, parse_text(table, "name"));
  FOREBAY_TRY(const std::string type, parse_text(table, "type"));
  const auto parsed = DataType::parse(type);
  if (!parsed) return bad(*table.get("type"), parsed.error().what + " (" + parsed.error().hint + ")");
  variable.type = *parsed;
  FOREBAY_TRY(variable.offset, parse_offset(table));
  FOREBAY_TRY(variable.shape, parse_shape(table));
  return variable;
}

// The tables of the list `key` of `table`, each turned into a value by `parse`.
template <class T, class Parse>
Result<std::vector<T>> parse_list(const toml::table& table, std::string_view key, Parse parse) {
  std::vector<T> values;
  const toml::node* node = table.get(key);
  if (!node) return values;
  const toml::array* entries = node->as_array();
  if (!entries || entries->size() > kMaxVariablesPerFile) return bad(*node, fmt::format("write [[...{}]]", key));
  for (const toml::node& entry : *entries) {
    const toml::table* fields = entry.as_table();
    if (!fields) return bad(entry, fmt::format("write [[...{}]]", key));
    FOREBAY_TRY(values.emplace_back(), parse(*fields));
  }
  return values;
}

Result<RawVariable> parse_member(const toml::table& table) {
  FOREBAY_CHECK(check_keys(table, {"name", "type", "offset", "shape"}));
  return parse_variable(table);
}

Result<RawGroup> parse_group(const toml::table& table) {
  FOREBAY_CHECK(check_keys(table, {"name", "offset", "repeat", "variable"}));
  RawGroup group;
  FOREBAY_TRY(group.name, parse_text(table, "name"));
  FOREBAY_TRY(group.offset, parse_offset(table));
  FOREBAY_TRY(group.repeat, parse_repeat(table));
  FOREBAY_TRY(group.variables, parse_list<RawVariable>(table, "variable", parse_member));
  return group;
}

Result<RawGroup> parse_lone_variable(const toml::table& table) {
  FOREBAY_CHECK(check_keys(table, {"name", "type", "offset", "shape", "repeat"}));
  RawGroup group;
  FOREBAY_TRY(group.repeat, parse_repeat(table));
  FOREBAY_TRY(group.variables.emplace_back(), parse_variable(table));
  return group;
}

Result<RawFile> parse_file(const toml::table& table) {
  FOREBAY_CHECK(check_keys(table, {"match", "variable", "group"}));
  RawFile file{.match = "*", .groups = {}};
  if (table.contains("match")) {
    FOREBAY_TRY(file.match, parse_text(table, "match"));
  }
  FOREBAY_TRY(file.groups, parse_list<RawGroup>(table, "variable", parse_lone_variable));
  FOREBAY_TRY(std::vector<RawGroup> groups, parse_list<RawGroup>(table, "group", parse_group));
  std::ranges::move(groups, std::back_inserter(file.groups));
  return file;
}

}  // namespace

Result<std::vector<RawFile>> parse_raw_description(std::string_view text) {
  try {
    const toml::table table = toml::parse(text);
    FOREBAY_CHECK(check_keys(table, {"file"}));
    FOREBAY_TRY(std::vector<RawFile> files, parse_list<RawFile>(table, "file", parse_file));
    if (files.empty()) return bad(table, "there is no [[file]]");
    return files;
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("raw-binary description, line {}: {}", error.source().begin.line, error.description()));
  }
}

}  // namespace forebay::format
