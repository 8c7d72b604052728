// Little helpers on the texts of configurations: ASCII only, whatever the locale is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::io {

// Without blanks, tabs and line ends at both sides.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

inline std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

inline bool equal_in_any_case(std::string_view a, std::string_view b) { return lower(a) == lower(b); }

// The items of a list with commas, without blanks around them; items that are empty are left out.
inline std::vector<std::string> list_items(std::string_view list) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view item = trimmed(list.substr(0, comma));
    if (!item.empty()) items.emplace_back(item);
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return items;
}

}  // namespace forebay::io
