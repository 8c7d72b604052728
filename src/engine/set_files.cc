#include "engine/set_files.h"

#include <algorithm>

#include "store/files.h"

namespace forebay::engine {

Result<std::vector<std::string>> container_names(const store::SetInfo& set) {
  std::vector<std::string> names;
  if (set.manifest) {
    for (const store::ContainerEntry& entry : set.manifest->containers) names.push_back(entry.name);
    return names;
  }
  FOREBAY_TRY(names, store::names_in(set.directory));
  std::erase_if(names, [](const std::string& name) { return name == "manifest" || !store::is_set_name(name); });
  std::ranges::sort(names);
  return names;
}

bool is_damage(const Error& error) {
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::not_found || error.kind == ErrorKind::io;
}

}  // namespace forebay::engine
