#include "cli/mount_table.h"

#include <algorithm>
#include <charconv>
#include <ranges>

namespace forebay::cli {
namespace {

std::vector<std::string> parts_of(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (const auto part : text | std::views::split(mark)) parts.emplace_back(part.begin(), part.end());
  return parts;
}

// Blanks and the like are written as a backslash and three octal digits.
std::string plain(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '\\' && text.size() - i > 3 &&
        std::from_chars(text.data() + i + 1, text.data() + i + 4, value, 8).ptr == text.data() + i + 4) {
      result += static_cast<char>(value);
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

// "ID PARENT DEVICE ROOT POINT OPTIONS [FIELD...] - TYPE SOURCE OPTIONS"
std::optional<Mount> find_mount(std::string_view mountinfo, uint64_t id) {
  constexpr size_t kPoint = 4, kOptions = 5;
  const std::string number = std::to_string(id);
  for (const auto part : mountinfo | std::views::split('\n')) {
    const auto fields = parts_of(std::string_view(part.begin(), part.end()), ' ');
    if (fields.empty() || fields[0] != number) continue;
    const auto dash = std::ranges::find(fields, "-");
    if (dash - fields.begin() <= static_cast<ptrdiff_t>(kOptions) || fields.end() - dash < 4) return {};
    Mount mount{dash[1], plain(fields[kPoint]), parts_of(fields[kOptions], ',')};
    std::ranges::move(parts_of(dash[3], ','), std::back_inserter(mount.options));
    return mount;
  }
  return {};
}

}  // namespace forebay::cli
