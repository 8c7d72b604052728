#include "job/scr/set_names.h"

#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "store/names.h"

namespace forebay::scr {
namespace {

constexpr std::string_view kPlain = "._-+=,";

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
}

std::string escaped(char c) { return fmt::format("@{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c))); }

}  // namespace

Result<std::string> set_of_name(std::string_view name) {
  std::string set;
  for (const char c : name) set += is_plain(c) ? std::string(1, c) : escaped(c);
  if (!set.empty() && !store::is_job_name(set)) {
    // Hidden, "latest", or with an ending of what is not finished.
    if (is_plain(name.front())) set = escaped(name.front()) + set.substr(1);
    if (!store::is_job_name(set) && is_plain(name.back()) && name.size() > 1)
      set = set.substr(0, set.size() - 1) + escaped(name.back());
  }
  auto checked = store::check_job_name(set);
  if (checked) return set;
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no name for a set: {}", name, checked.error().what));
}

std::string name_of_set(std::string_view set) {
  std::string name;
  for (size_t i = 0; i < set.size(); ++i) {
    unsigned value = 0;
    if (set[i] == '@' && i + 2 < set.size()) {
      const char* end = set.data() + i + 3;
      if (const auto [at, fault] = std::from_chars(set.data() + i + 1, end, value, 16);
          fault == std::errc{} && at == end) {
        name += static_cast<char>(value);
        i += 2;
        continue;
      }
    }
    name += set[i];
  }
  return name;
}

}  // namespace forebay::scr
