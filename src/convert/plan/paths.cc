#include "convert/plan/paths.h"

namespace forebay::convert {

std::string path_of(std::string_view name) {
  std::string path;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (part.empty()) continue;
    if (!path.empty()) path += '/';
    if (part == "." || part == "..") {
      path.append(part.size(), '_');
      continue;
    }
    for (const char c : part) path += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '_' : c;
  }
  return path.empty() ? "_" : path;
}

std::string Paths::take(const std::string& path) {
  std::string taken;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    taken += (begin == 0 ? "" : "/") + path.substr(begin, end - begin);
    const bool is_last = end == path.size();
    while (datasets_.contains(taken) || (is_last && groups_.contains(taken))) taken += '_';
    (is_last ? datasets_ : groups_).insert(taken);
    begin = end + 1;
  }
  return taken;
}

}  // namespace forebay::convert
