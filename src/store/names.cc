#include <algorithm>

#include "store/store.h"

namespace forebay::store {

bool is_set_name(std::string_view name) {
  constexpr size_t kMost = 200;
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-+=@,").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kMost && name.front() != '.' && name != "latest" &&
         std::ranges::all_of(name, is_allowed);
}

}  // namespace forebay::store
