#include "convert/plan/dimensions.h"

namespace forebay::convert {

const std::string& DimensionNames::of(const std::string& kind, uint64_t length) {
  std::string& name = names_[{kind, length}];
  if (name.empty()) name = paths_.take(kinds_.insert(kind).second ? kind : kind + "_" + std::to_string(length));
  return name;
}

void DimensionNames::adopt(const std::string& kind, uint64_t length) {
  if (kinds_.insert(kind).second) names_[{kind, length}] = kind;
}

std::string axis_name(size_t from_last) {
  constexpr const char* kAxes[] = {"x", "y", "z"};
  return from_last < std::size(kAxes) ? kAxes[from_last] : "d" + std::to_string(from_last);
}

}  // namespace forebay::convert
