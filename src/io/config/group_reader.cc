#include "io/config/group_reader.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "io/group/attribute_value.h"
#include "io/group/dimensions.h"
#include "io/group/mesh.h"
#include "io/group/name_index.h"
#include "io/group/text.h"
#include "io/group/value_type.h"

namespace forebay::io {
namespace {

struct Bounds {
  Value dimensions, offsets;
};

class GroupReader {
 public:
  explicit GroupReader(GroupDefinition group) : group_(std::move(group)) {}

  // Of a group, or of global bounds within it.
  Outcome<void> read_children(const Element& parent, const Bounds* bounds) {
    for (const Element& child : parent.children()) {
      const std::string name = child.name();
      if (name == "var") {
        FOREBAY_CHECK(read_variable(child, bounds));
      } else if (name == "global-bounds") {
        FOREBAY_CHECK(read_bounds(child));
      } else if (name == "attribute") {
        FOREBAY_CHECK(read_attribute(child));
      } else if (name == "gwrite") {
        read_source(child);
      } else if (name == "mesh") {
        read_mesh(child, group_);
      } else if (name == "link" || name == "multilink") {
        child.document().warn(child.at(), fmt::format("{} elements are not supported and ignored", name));
      } else {
        warn_of_unknown(child);
      }
    }
    return {};
  }

  GroupDefinition take() && { return std::move(group_); }

 private:
  static void warn_of_unknown(const Element& element) {
    element.document().warn(
        element.at(), fmt::format("'{}' is no element of a group, and ignored", element.name()), [&] {
          const std::vector<std::string> known = {"var", "global-bounds", "attribute", "gwrite", "mesh"};
          return nearest_hint(element.name(), known, fmt::format("expected one of {}", fmt::join(known, ", ")));
        });
  }

  Outcome<void> read_bounds(const Element& element) {
    element.expect_attributes({"dimensions", "dimension", "global-dimensions", "global-dimension", "offsets", "offset",
                               "local-offsets", "local-offset", "coordination-communicator", "coordination-var"});
    Bounds bounds;
    FOREBAY_TRY(bounds.dimensions, element.get({"dimensions", "dimension", "global-dimensions", "global-dimension"}));
    FOREBAY_TRY(bounds.offsets, element.get({"offsets", "offset", "local-offsets", "local-offset"}));
    if (trimmed(bounds.dimensions.text).empty())
      return element.document().refuse(Code::global_dimension_required, element.at(),
                                       "expected attribute 'dimensions' of global-bounds");
    if (trimmed(bounds.offsets.text).empty())
      return element.document().refuse(Code::global_offset_required, element.at(),
                                       "expected attribute 'offsets' of global-bounds");
    return read_children(element, &bounds);
  }

  Outcome<void> read_variable(const Element& element, const Bounds* bounds) {
    Document& document = element.document();
    element.expect_attributes({"name", "path", "type", "dimensions", "dimension", "gwrite", "gread", "read",
                               "transform", "mesh", "center", "centering", "time-steps", "time-scale",
                               "time-series-format", "hyperslab"});
    FOREBAY_TRY(const Value name, element.need("name", Code::invalid_xml));
    FOREBAY_TRY(const Value path, element.get({"path"}));
    FOREBAY_TRY(const Value type, element.need("type", Code::invalid_attribute_type));
    FOREBAY_TRY(const Value dimensions, element.get({"dimensions", "dimension"}));
    FOREBAY_TRY(const Value gwrite, element.get({"gwrite"}));
    FOREBAY_TRY(const Value gread, element.get({"gread"}));
    FOREBAY_TRY(const Value read, element.get({"read"}));
    FOREBAY_TRY(const Value transform, element.get({"transform"}));
    VariableDefinition variable{.name = name.text, .path = path.text};
    FOREBAY_TRY(variable.type, parse_type(document, type));
    if (variable.type == ValueType::string_array)
      return document.refuse(Code::invalid_attribute_type, type.at, "only attributes can be arrays of strings");
    FOREBAY_TRY(variable.dimensions, parse_list(document, dimensions, Code::invalid_dimension));
    if (bounds && !variable.dimensions.empty()) {
      FOREBAY_TRY(variable.global_dimensions, parse_list(document, bounds->dimensions, Code::invalid_global_dimension));
      FOREBAY_TRY(variable.offsets, parse_list(document, bounds->offsets, Code::invalid_offset));
      if (auto fits = check_ranks(variable); !fits) return document.at(element.at(), std::move(fits.error()));
    }
    variable.gwrite = gwrite.text;
    variable.gread = gread.text;
    variable.read = lower(trimmed(read.text)) != "no";
    variable.transform = trimmed(transform.text);
    if (!variable.transform.empty()) variable.transform_place = document.place(transform.at);
    const std::string full_name = variable.full_name();
    if (names_.find_variable(full_name))
      document.warn(element.at(), fmt::format("variable '{}' is defined again", full_name),
                    [] { return "writes by name find the first definition"; });
    auto [named, is_new] = last_names_.try_emplace(full_name.substr(full_name.rfind('/') + 1), full_name);
    if (!is_new && named->second != full_name) named->second.clear();
    group_.variables.push_back(std::move(variable));
    names_.update(group_);
    read_variable_mesh(element, full_name, group_);
    return {};
  }

  static Outcome<ValueType> parse_type(Document& document, const Value& value) {
    if (const auto type = parse_value_type(value.text)) return *type;
    return document.refuse(
        Code::invalid_attribute_type, value.at, fmt::format("'{}' is no type", value.text),
        nearest_hint(lower(value.text), value_type_names(), "such as integer, real, double, string"));
  }

  Outcome<std::vector<Extension>> parse_list(Document& document, const Value& list, Code code) {
    auto parsed = parse_extensions(group_, names_, with_paths(document, list), code);
    if (!parsed) return document.at(list.at, std::move(parsed.error()));
    return parsed;
  }

  // A name without its path means the only variable of that name, if there is no other.
  std::string with_paths(Document& document, const Value& list) {
    std::vector<std::string> items = list_items(list.text);
    bool is_changed = false;
    for (std::string& item : items) {
      if (names_.find_variable(item) || names_.find_attribute(item) || item == group_.time_index) continue;
      const auto only = last_names_.find(item);
      if (only == last_names_.end() || only->second.empty()) continue;
      document.warn(list.at, fmt::format("'{}' is taken for '{}'", item, only->second),
                    [] { return "names count with their path"; });
      item = only->second;
      is_changed = true;
    }
    return is_changed ? fmt::format("{}", fmt::join(items, ",")) : list.text;
  }

  Outcome<void> read_attribute(const Element& element) {
    Document& document = element.document();
    element.expect_attributes({"name", "path", "type", "value", "var"});
    FOREBAY_TRY(const Value name, element.need("name", Code::invalid_xml));
    FOREBAY_TRY(const Value path, element.get({"path"}));
    FOREBAY_TRY(const auto type_text, element.find({"type"}));
    FOREBAY_TRY(const Value variable, element.get({"var"}));
    const Value value = element.get_long("value");
    ValueType type = ValueType::string;
    if (type_text && variable.text.empty()) {
      FOREBAY_TRY(type, parse_type(document, *type_text));
    }
    if (value.at == element.at() && variable.text.empty())
      return document.refuse(Code::invalid_attribute_value, element.at(),
                             fmt::format("expected attribute 'value' or 'var' of attribute '{}'", name.text));
    auto attribute = make_attribute(group_, name.text, path.text, type, value.text, variable.text);
    if (!attribute) return document.at(variable.text.empty() ? value.at : variable.at, std::move(attribute.error()));
    group_.attributes.push_back(std::move(*attribute));
    names_.update(group_);
    return {};
  }

  void read_source(const Element& element) {
    element.expect_attributes({"src"});
    const Value source = element.get_long("src");
    if (!source.text.empty()) group_.source_lines.push_back({group_.variables.size(), source.text});
  }

  GroupDefinition group_;
  NameIndex names_{};
  std::map<std::string, std::string> last_names_;  // without path, to the full name; empty if there are several
};

Outcome<Statistics> read_statistics(const Element& element) {
  FOREBAY_TRY(const Value value, element.get({"stats"}));
  const std::string word = lower(trimmed(value.text));
  if (word.empty() || word == "default" || word == "minmax") return Statistics::minmax;
  if (word == "on" || word == "full") return Statistics::full;
  if (word == "off" || word == "no") return Statistics::none;
  return element.document().refuse(Code::invalid_xml, value.at,
                                   fmt::format("'{}' is no kind of statistics", value.text),
                                   "expected off, minmax or on");
}

}  // namespace

Outcome<bool> read_language(const Element& element, bool otherwise) {
  FOREBAY_TRY(const Value value, element.get({"host-language"}));
  const std::string word = lower(trimmed(value.text));
  if (word.empty()) return otherwise;
  if (word == "fortran") return true;
  if (word == "c") return false;
  return element.document().refuse(Code::invalid_host_language, value.at,
                                   fmt::format("'{}' is no language that is known", value.text),
                                   "expected Fortran or C");
}

Outcome<GroupDefinition> read_group(const Element& element, const GroupDefaults& defaults) {
  element.expect_attributes(
      {"name", "host-language", "stats", "time-index", "coordination-communicator", "coordination-var"});
  FOREBAY_TRY(const Value name, element.need("name", Code::no_group));
  FOREBAY_TRY(const Value time_index, element.get({"time-index"}));
  GroupDefinition group{.name = name.text, .time_index = std::string(trimmed(time_index.text))};
  FOREBAY_TRY(group.fortran_order, read_language(element, defaults.is_fortran));
  FOREBAY_TRY(group.statistics, read_statistics(element));
  if (!defaults.schema_version.empty())
    if (const auto set = set_schema_version(group, defaults.schema_version); !set)
      element.document().warn(element.at(), set.error().error.what);
  GroupReader reader(std::move(group));
  FOREBAY_CHECK(reader.read_children(element, nullptr));
  return std::move(reader).take();
}

}  // namespace forebay::io
