// Names of dimensions, for targets that have such. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "convert/plan/paths.h"

namespace forebay::convert {

// The first dimension of each kind has the kind's own name ("x"), and one of another length that and its length
// ("x_33"); a '_' is added where a dataset has that name.
class DimensionNames {
 public:
  explicit DimensionNames(Paths& paths) : paths_(paths) {}

  const std::string& of(const std::string& kind, uint64_t length);

  // That a dataset of the kind's own name, of that length, has the values of the dimension: it is called so, too. To be
  // said before of() names it.
  void adopt(const std::string& kind, uint64_t length);

 private:
  Paths& paths_;
  std::map<std::pair<std::string, uint64_t>, std::string> names_;
  std::set<std::string> kinds_;
};

// What the dimension is called that `from_last` others follow: "x", "y", "z", then "d3", "d4", ...
std::string axis_name(size_t from_last);

}  // namespace forebay::convert
