#include "engine/set/set_files.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace forebay::engine {

Result<std::vector<std::string>> container_names(const store::SetInfo& set) {
  std::vector<std::string> names;
  if (set.manifest) {
    for (const store::ContainerEntry& entry : set.manifest->containers) names.push_back(entry.name);
    return names;
  }
  FOREBAY_TRY(names, set.files.names());
  std::erase_if(names, [](const std::string& name) { return name == "manifest" || !store::is_set_name(name); });
  std::ranges::sort(names);
  return names;
}

std::string container_name(size_t number, size_t count, uint64_t attempt) {
  const std::string name = fmt::format("{:05}-of-{:05}", number, count);
  return attempt == 0 ? name + ".fbc" : fmt::format("{}.{}.fbc", name, attempt);
}

// The numbers that a container's name begins with; nothing if it is no such name.
static std::optional<std::pair<size_t, size_t>> numbers_in(const std::string& name) {
  constexpr size_t kMost = 100'000;
  unsigned long number = 0, of = 0, attempt = 0;
  const int found = std::sscanf(name.c_str(), "%lu-of-%lu.%lu.fbc", &number, &of, &attempt);
  if (found < 2 || of > kMost || name != container_name(number, of, found == 3 ? attempt : 0)) return {};
  return std::pair{number, of};
}

std::vector<std::string> missing_containers(const std::vector<std::string>& names) {
  size_t count = 0;
  std::set<size_t> there;
  for (const std::string& name : names) {
    const auto numbers = numbers_in(name);
    if (!numbers) continue;
    there.insert(numbers->first);
    count = std::max(count, numbers->second);
  }
  std::vector<std::string> missing;
  for (size_t number = 0; number < count; ++number)
    if (!there.contains(number)) missing.push_back(container_name(number, count));
  return missing;
}

bool is_damage(const Error& error) {
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::not_found || error.kind == ErrorKind::io;
}

}  // namespace forebay::engine
