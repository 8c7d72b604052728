#include "io/session/check_transforms.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "io/file/transform.h"

namespace forebay::io {
namespace {

struct Asked {
  std::string transform;
  const VariableDefinition* first;
  size_t variables = 0;
};

std::string who_asks(const GroupDefinition& definition, const Asked& asked) {
  return fmt::format("group '{}', variable '{}'{}", definition.name, asked.first->full_name(),
                     asked.variables > 1 ? fmt::format(" and {} more", asked.variables - 1) : "");
}

}  // namespace

CheckedTransforms check_transforms(GroupDefinition& definition) {
  std::vector<Asked> all;
  std::map<std::string, size_t> places;
  for (const VariableDefinition& variable : definition.variables) {
    if (variable.transform.empty()) continue;
    const auto [it, is_new] = places.try_emplace(variable.transform, all.size());
    if (is_new) all.push_back({variable.transform, &variable});
    ++all[it->second].variables;
  }
  CheckedTransforms checked;
  for (const Asked& asked : all) {
    auto transform = Transform::parse(asked.transform);
    const std::string who = who_asks(definition, asked), where = to_string(asked.first->transform_place);
    if (transform) {
      for (const std::string& warning : transform->warnings())
        checked.warnings.push_back(fmt::format("{}{}{}: {}", where, where.empty() ? "" : ": ", who, warning));
      continue;
    }
    Failure& failure = checked.refused.emplace_back(std::move(transform.error()));
    failure.error.what = fmt::format("{}: {}; values are stored as they are", who, failure.error.what);
    failure.error.path = where;
    for (VariableDefinition& variable : definition.variables)
      if (variable.transform == asked.transform) variable.transform.clear();
  }
  return checked;
}

}  // namespace forebay::io
