// Names of arrays as paths of groups and datasets. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace forebay::convert {

// The parts of `name` between its '/', joined by one '/'. Empty parts go; "." and ".." and control characters, with
// which a path would lead elsewhere or could not be typed, become '_'. "_" of a name without parts.
std::string path_of(std::string_view name);

// Paths of datasets that do not get into each other's way: none is a group of another one.
class Paths {
 public:
  // `path`, or the like of it that is free: '_' is put behind a part that something else is called.
  std::string take(const std::string& path);

 private:
  std::set<std::string, std::less<>> datasets_, groups_;
};

}  // namespace forebay::convert
