#include "engine/set_files.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

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

std::string container_name(size_t number, size_t count) { return fmt::format("{:05}-of-{:05}.fbc", number, count); }

std::vector<std::string> missing_containers(const std::vector<std::string>& names) {
  constexpr size_t kMost = 100'000;
  size_t count = 0;
  for (const std::string& name : names) {
    unsigned long number = 0, of = 0;
    if (std::sscanf(name.c_str(), "%lu-of-%lu.fbc", &number, &of) != 2 || of > kMost) continue;
    if (name == container_name(number, of)) count = std::max<size_t>(count, of);
  }
  std::vector<std::string> missing;
  for (size_t number = 0; number < count; ++number)
    if (std::string name = container_name(number, count); std::ranges::find(names, name) == names.end())
      missing.push_back(std::move(name));
  return missing;
}

bool is_damage(const Error& error) {
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::not_found || error.kind == ErrorKind::io;
}

}  // namespace forebay::engine
