#include "launch/run/failure_groups.h"

#include <algorithm>
#include <ranges>
#include <set>

#include <fmt/format.h>

namespace forebay::launch {
namespace {

constexpr size_t kMostBytes = 64;  // of a kind or a label
constexpr size_t kMostKinds = 64;  // of a node

bool is_word_of_group(std::string_view text) {
  constexpr std::string_view kOthers = "._-+:/";
  return !text.empty() && text.size() <= kMostBytes && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kOthers.contains(c);
  });
}

std::string_view trimmed_line(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

Result<std::vector<std::string>> parse_failure_groups(std::string_view text) {
  std::vector<std::string> groups;
  std::set<std::string_view> kinds;
  if (text.empty()) return fail(ErrorKind::invalid_argument, "no failure groups are given");
  for (const auto part : std::views::split(text, ',')) {
    const std::string_view group(part.begin(), part.end());
    const size_t equals = group.find('=');
    const std::string_view kind = group.substr(0, equals);
    if (equals == group.npos || !is_word_of_group(kind) || !is_word_of_group(group.substr(equals + 1)))
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no failure group", group), {}, {},
                  "they are given as KIND=LABEL,..., for instance power=psu1,switch=0");
    if (!kinds.insert(kind).second)
      return fail(ErrorKind::invalid_argument, fmt::format("the failure group '{}' is given twice", kind));
    groups.emplace_back(group);
  }
  if (groups.size() > kMostKinds)
    return fail(ErrorKind::invalid_argument, fmt::format("a node has {} failure groups at most", kMostKinds));
  return groups;
}

Result<std::map<std::string, std::string>> parse_failure_group_file(std::string_view text, const std::string& path) {
  std::map<std::string, std::string> all;
  size_t number = 0;
  for (const auto part : std::views::split(text, '\n')) {
    ++number;
    const std::string_view line = trimmed_line({part.begin(), part.end()});
    if (line.empty()) continue;
    const auto wrong = [&](const std::string& what) {
      return fail(ErrorKind::invalid_argument, fmt::format("line {}: {}", number, what), path, {},
                  "a line is HOST KIND=LABEL,..., as in 'n1 power=psu1,switch=0'");
    };
    const size_t gap = line.find_first_of(" \t");
    if (gap == line.npos) return wrong(fmt::format("'{}' has no failure groups", line));
    const std::string_view groups = line.substr(line.find_first_not_of(" \t", gap));
    if (const auto parsed = parse_failure_groups(groups); !parsed) return wrong(parsed.error().what);
    if (!all.emplace(line.substr(0, gap), groups).second)
      return wrong(fmt::format("node {} was named before", line.substr(0, gap)));
  }
  return all;
}

}  // namespace forebay::launch
