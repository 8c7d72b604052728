#include "io/group/mesh.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/group/attribute_value.h"
#include "io/group/text.h"

namespace forebay::io {
namespace {

std::string mesh_path(std::string_view mesh) { return fmt::format("/adios_schema/{}", mesh); }
std::string variable_path(std::string_view variable) { return fmt::format("{}/adios_schema", variable); }

void add_text(GroupDefinition& group, std::string path, std::string name, std::string_view value) {
  AttributeDefinition attribute{.name = std::move(name), .path = std::move(path)};
  const auto bytes = as_bytes(value);
  attribute.value.assign(bytes.begin(), bytes.end());
  group.attributes.push_back(std::move(attribute));
}

void add_integer(GroupDefinition& group, std::string path, std::string name, size_t value) {
  const auto number = static_cast<int32_t>(value);
  auto attribute = make_attribute(std::move(name), std::move(path), ValueType::int32, 1, &number);
  if (attribute) group.attributes.push_back(std::move(*attribute));
}

// A number as such, a name as text.
void add_number_or_name(GroupDefinition& group, std::string path, std::string name, std::string_view value) {
  const auto number = parse_value(ValueType::float64, value);
  if (!number) return add_text(group, std::move(path), std::move(name), value);
  group.attributes.push_back(
      {.name = std::move(name), .path = std::move(path), .type = ValueType::float64, .value = *number});
}

void add_numbered(GroupDefinition& group, const std::string& path, std::string_view name,
                  const std::vector<std::string>& items) {
  for (size_t i = 0; i < items.size(); ++i) add_text(group, path, fmt::format("{}{}", name, i), items[i]);
}

std::unexpected<Failure> wrong_mesh(std::string_view mesh, std::string_view what) {
  return refuse(Code::invalid_argument, fmt::format("mesh '{}': {}", mesh, what));
}

// What one to three items of a list mean.
std::vector<std::string_view> range_names(size_t count) {
  if (count == 2) return {"min", "max"};
  if (count == 3) return {"start", "stride", "count"};
  return {};
}

std::string_view time_prefix(MeshTime which) { return which == MeshTime::steps ? "time-steps" : "time-scale"; }

// `texts`: from the second item on, numbers are texts as well.
Outcome<void> add_time(GroupDefinition& group, const std::string& path, std::string_view of, MeshTime which,
                       std::string_view list, bool texts) {
  const std::vector<std::string> items = list_items(list);
  if (items.empty()) return {};
  if (items.size() > 3)
    return refuse(Code::invalid_argument,
                  fmt::format("'{}': {} '{}' has more than three items", of, time_prefix(which), list));
  if (items.size() == 1) {
    const bool is_number = parse_value(ValueType::float64, items[0]).has_value();
    add_number_or_name(group, path, fmt::format("{}-{}", time_prefix(which), is_number ? "count" : "var"), items[0]);
    return {};
  }
  const auto names = range_names(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string name = fmt::format("{}-{}", time_prefix(which), names[i]);
    if (texts && i > 0)
      add_text(group, path, name, items[i]);
    else
      add_number_or_name(group, path, name, items[i]);
  }
  return {};
}

Outcome<void> need_dimensions(std::string_view mesh, std::string_view dimensions) {
  if (list_items(dimensions).empty()) return wrong_mesh(mesh, "it has no dimensions");
  return {};
}

}  // namespace

Outcome<void> set_schema_version(GroupDefinition& group, std::string_view version) {
  const std::string_view text = trimmed(version);
  const size_t dot = text.find('.');
  const std::string_view major = text.substr(0, dot);
  const std::string_view minor = dot == std::string_view::npos ? "0" : text.substr(dot + 1);
  if (!parse_value(ValueType::uint32, major) || !parse_value(ValueType::uint32, minor))
    return refuse(Code::invalid_argument, fmt::format("'{}' is no version of a schema", version), "such as 1.1");
  add_text(group, "/adios_schema", "version_major", major);
  add_text(group, "/adios_schema", "version_minor", minor);
  return {};
}

void set_mesh_kind(GroupDefinition& group, std::string_view mesh, MeshKind kind) {
  constexpr std::string_view kNames[] = {"uniform", "rectilinear", "structured", "unstructured"};
  add_text(group, mesh_path(mesh), "type", kNames[static_cast<size_t>(kind)]);
}

void set_mesh_text(GroupDefinition& group, std::string_view mesh, MeshText which, std::string_view value) {
  constexpr std::string_view kNames[] = {"nspace", "npoints", "time-varying", "mesh-file", "mesh-group"};
  if (!value.empty()) add_text(group, mesh_path(mesh), std::string(kNames[static_cast<size_t>(which)]), value);
}

void set_mesh_list(GroupDefinition& group, std::string_view mesh, MeshList which, std::string_view list) {
  constexpr std::string_view kNames[] = {"dimensions", "origins", "spacings", "maximums"};
  const std::string_view name = kNames[static_cast<size_t>(which)];
  const std::vector<std::string> items = list_items(list);
  if (items.empty()) return;
  add_numbered(group, mesh_path(mesh), name, items);
  add_integer(group, mesh_path(mesh), fmt::format("{}-num", name), items.size());
}

void set_mesh_coordinates(GroupDefinition& group, std::string_view mesh, MeshKind kind, std::string_view variables) {
  const std::string_view prefix = kind == MeshKind::rectilinear ? "coords" : "points";
  const std::vector<std::string> items = list_items(variables);
  if (items.empty()) return;
  if (items.size() == 1) return add_text(group, mesh_path(mesh), fmt::format("{}-single-var", prefix), items[0]);
  const std::string name = fmt::format("{}-multi-var", prefix);
  add_numbered(group, mesh_path(mesh), name, items);
  add_integer(group, mesh_path(mesh), name + "-num", items.size());
}

Outcome<void> set_mesh_cells(GroupDefinition& group, std::string_view mesh, std::string_view counts,
                             std::string_view data, std::string_view types) {
  const auto count = list_items(counts), corners = list_items(data), kinds = list_items(types);
  if (count.empty() || count.size() != corners.size() || count.size() != kinds.size())
    return wrong_mesh(mesh, fmt::format("counts, data and types of its cells are lists of {}, {} and {} items, not "
                                        "equally long",
                                        count.size(), corners.size(), kinds.size()));
  const std::string path = mesh_path(mesh);
  if (count.size() == 1) {
    add_integer(group, path, "ncsets", 1);
    add_text(group, path, "ccount", count[0]);
    add_text(group, path, "cdata", corners[0]);
    add_text(group, path, "ctype", kinds[0]);
    return {};
  }
  add_numbered(group, path, "ccount", count);
  add_integer(group, path, "ncsets", count.size());
  add_numbered(group, path, "cdata", corners);
  add_numbered(group, path, "ctype", kinds);
  return {};
}

Outcome<void> set_mesh_time(GroupDefinition& group, std::string_view mesh, MeshTime which, std::string_view list) {
  return add_time(group, mesh_path(mesh), mesh, which, list, false);
}

// ADIOS 1.13 keeps formats that are numbers to itself, and has the path of a variable's other ones in disorder.
void set_mesh_series_format(GroupDefinition& group, std::string_view mesh, std::string_view format) {
  if (!format.empty() && !parse_value(ValueType::float64, format))
    add_text(group, mesh_path(mesh), "time-series-format", format);
}

void set_variable_mesh(GroupDefinition& group, std::string_view variable, std::string_view mesh) {
  if (!mesh.empty()) add_text(group, std::string(variable), "adios_schema", mesh);
}

void set_variable_centering(GroupDefinition& group, std::string_view variable, std::string_view centering) {
  if (!centering.empty()) add_text(group, variable_path(variable), "centering", centering);
}

Outcome<void> set_variable_time(GroupDefinition& group, std::string_view variable, MeshTime which,
                                std::string_view list) {
  // Readers of variables' scales expect texts but for the first item.
  return add_time(group, variable_path(variable), variable, which, list, which == MeshTime::scale);
}

Outcome<void> set_variable_hyperslab(GroupDefinition& group, std::string_view variable, std::string_view list) {
  const std::vector<std::string> items = list_items(list);
  if (items.size() > 3)
    return refuse(Code::invalid_argument,
                  fmt::format("'{}': hyperslab '{}' has more than three items", variable, list));
  const auto names = range_names(items.size());
  for (size_t i = 0; i < items.size(); ++i)
    add_text(group, variable_path(variable), names.empty() ? "singleton" : std::string(names[i]), items[i]);
  return {};
}

void set_variable_series_format(GroupDefinition& group, std::string_view variable, std::string_view format) {
  if (!format.empty() && !parse_value(ValueType::float64, format))
    add_text(group, variable_path(variable), "time-series-format", format);
}

Outcome<void> define_mesh(GroupDefinition& group, std::string_view name, const UniformMesh& mesh) {
  set_mesh_kind(group, name, MeshKind::uniform);
  FOREBAY_CHECK(need_dimensions(name, mesh.dimensions));
  set_mesh_list(group, name, MeshList::dimensions, mesh.dimensions);
  set_mesh_list(group, name, MeshList::origins, mesh.origins);
  set_mesh_list(group, name, MeshList::spacings, mesh.spacings);
  set_mesh_list(group, name, MeshList::maximums, mesh.maximums);
  set_mesh_text(group, name, MeshText::nspace, mesh.nspace);
  return {};
}

Outcome<void> define_mesh(GroupDefinition& group, std::string_view name, MeshKind kind, const CurvedMesh& mesh) {
  set_mesh_kind(group, name, kind);
  FOREBAY_CHECK(need_dimensions(name, mesh.dimensions));
  set_mesh_list(group, name, MeshList::dimensions, mesh.dimensions);
  if (list_items(mesh.coordinates).empty()) return wrong_mesh(name, "it has no variables with coordinates");
  set_mesh_coordinates(group, name, kind, mesh.coordinates);
  set_mesh_text(group, name, MeshText::nspace, mesh.nspace);
  return {};
}

Outcome<void> define_mesh(GroupDefinition& group, std::string_view name, const UnstructuredMesh& mesh) {
  set_mesh_kind(group, name, MeshKind::unstructured);
  set_mesh_text(group, name, MeshText::nspace, mesh.nspace);
  set_mesh_text(group, name, MeshText::npoints, mesh.npoints);
  if (list_items(mesh.points).empty()) return wrong_mesh(name, "it has no variables with points");
  set_mesh_coordinates(group, name, MeshKind::unstructured, mesh.points);
  return set_mesh_cells(group, name, mesh.counts, mesh.data, mesh.cell_types);
}

}  // namespace forebay::io
