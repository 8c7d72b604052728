#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "io/config/group_reader.h"
#include "io/group/mesh.h"
#include "io/group/text.h"

namespace forebay::io {
namespace {

constexpr std::array<std::pair<std::string_view, MeshKind>, 4> kMeshKinds{{{"uniform", MeshKind::uniform},
                                                                           {"rectilinear", MeshKind::rectilinear},
                                                                           {"structured", MeshKind::structured},
                                                                           {"unstructured", MeshKind::unstructured}}};

class MeshReader {
 public:
  MeshReader(const Element& element, GroupDefinition& group) : element_(element), group_(group) {}

  void read() {
    element_.expect_attributes(
        {"name", "type", "time-varying", "file", "group", "time-steps", "time-scale", "time-series-format"});
    name_ = text(element_, "name");
    if (name_.empty()) return warn(element_, "a mesh without a name is ignored");
    const std::string type = lower(trimmed(text(element_, "type")));
    const auto* known = std::ranges::find(kMeshKinds, type, &std::pair<std::string_view, MeshKind>::first);
    if (known == kMeshKinds.end())
      return element_.document().warn(element_.at(), fmt::format("mesh '{}' of type '{}' is ignored", name_, type),
                                      [] { return "expected uniform, rectilinear, structured or unstructured"; });
    kind_ = known->second;
    set_mesh_kind(group_, name_, kind_);
    set_mesh_text(group_, name_, MeshText::time_varying, text(element_, "time-varying"));
    tell(element_, set_mesh_time(group_, name_, MeshTime::steps, text(element_, "time-steps")));
    tell(element_, set_mesh_time(group_, name_, MeshTime::scale, text(element_, "time-scale")));
    set_mesh_series_format(group_, name_, text(element_, "time-series-format"));
    set_mesh_text(group_, name_, MeshText::mesh_file, text(element_, "file"));
    set_mesh_text(group_, name_, MeshText::mesh_group, text(element_, "group"));
    for (const Element& child : element_.children()) read_part(child);
    if (!has_dimensions_ && kind_ != MeshKind::unstructured) warn(element_, "it has no dimensions");
    if (!has_coordinates_ && kind_ != MeshKind::uniform) warn(element_, "it has no variables with coordinates");
    if (!has_cells_ && kind_ == MeshKind::unstructured) warn(element_, "it has no cells");
  }

 private:
  void read_part(const Element& part) {
    const std::string what = part.name();
    if (what == "uniform-cells" || what == "mixed-cells") {
      part.expect_attributes({"count", "data", "type"});
      tell(part, set_mesh_cells(group_, name_, text(part, "count"), text(part, "data"), text(part, "type")));
      has_cells_ = true;
      return;
    }
    part.expect_attributes({"value"});
    const std::string value = text(part, "value");
    if (what == "nspace") {
      set_mesh_text(group_, name_, MeshText::nspace, value);
    } else if (what == "number-of-points") {
      set_mesh_text(group_, name_, MeshText::npoints, value);
    } else if (what == "dimensions") {
      set_mesh_list(group_, name_, MeshList::dimensions, value);
      has_dimensions_ = !list_items(value).empty();
    } else if (what == "origin" || what == "origins") {
      set_mesh_list(group_, name_, MeshList::origins, value);
    } else if (what == "spacing" || what == "spacings") {
      set_mesh_list(group_, name_, MeshList::spacings, value);
    } else if (what == "maximum" || what == "maximums") {
      set_mesh_list(group_, name_, MeshList::maximums, value);
    } else if (what.ends_with("-multi-var") || what.ends_with("-single-var")) {
      set_mesh_coordinates(group_, name_, kind_, value);
      has_coordinates_ = !list_items(value).empty();
    } else {
      part.document().warn(part.at(), fmt::format("'{}' is no part of a mesh, and ignored", what), [&] {
        const std::vector<std::string> parts = {"nspace",           "dimensions",        "origin",
                                                "spacing",          "maximum",           "coordinates-multi-var",
                                                "points-multi-var", "points-single-var", "coordinates-single-var",
                                                "uniform-cells",    "mixed-cells",       "number-of-points"};
        return nearest_hint(what, parts, fmt::format("expected one of {}", fmt::join(parts, ", ")));
      });
    }
  }

  std::string text(const Element& element, std::string_view name) {
    auto value = element.get({name});
    if (value) return std::move(value->text);
    element.document().warn(element.at(), value.error().error.what);
    return {};
  }

  void tell(const Element& element, const Outcome<void>& result) {
    if (!result) warn(element, result.error().error.what);
  }

  void warn(const Element& element, std::string_view what) {
    element.document().warn(element.at(),
                            name_.empty() ? std::string(what) : fmt::format("mesh '{}': {}", name_, what));
  }

  const Element& element_;
  GroupDefinition& group_;
  std::string name_;
  MeshKind kind_ = MeshKind::uniform;
  bool has_dimensions_ = false, has_coordinates_ = false, has_cells_ = false;
};

}  // namespace

void read_mesh(const Element& element, GroupDefinition& group) { MeshReader(element, group).read(); }

void read_variable_mesh(const Element& element, const std::string& variable, GroupDefinition& group) {
  const auto text = [&](std::initializer_list<std::string_view> names) {
    auto value = element.get(names);
    if (!value) element.document().warn(element.at(), value.error().error.what);
    return value ? std::string(trimmed(value->text)) : std::string();
  };
  const auto tell = [&](const Outcome<void>& result) {
    if (!result) element.document().warn(element.at(), result.error().error.what);
  };
  set_variable_mesh(group, variable, text({"mesh"}));
  set_variable_centering(group, variable, text({"center", "centering"}));
  tell(set_variable_time(group, variable, MeshTime::steps, text({"time-steps"})));
  tell(set_variable_time(group, variable, MeshTime::scale, text({"time-scale"})));
  set_variable_series_format(group, variable, text({"time-series-format"}));
  tell(set_variable_hyperslab(group, variable, text({"hyperslab"})));
}

}  // namespace forebay::io
