#include "io/group/definition.h"

#include <string_view>

namespace forebay::io {
namespace {

std::string name_below(std::string_view path, std::string_view name) {
  if (path.empty()) return std::string(name);
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path) + "/" + std::string(name);
}

}  // namespace

std::string VariableDefinition::full_name() const { return name_below(path, name); }

std::string AttributeDefinition::full_name() const { return name_below(path, name); }

}  // namespace forebay::io
