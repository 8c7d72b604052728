#include "engine/set/name_ranges.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "engine/options.h"
#include "engine/set/name_pattern.h"

namespace forebay::engine {
namespace {

constexpr size_t kMostTexts = 16, kMostBytes = 512;
constexpr size_t kMostDigits = 18;
constexpr uint64_t kLongestRange = 1 << 16;

// A manifest is UTF-8; what is not plain ASCII is not worth telling apart.
bool is_plain(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~' && c != '{' && c != '}'; });
}

uint64_t value_of(std::string_view digits) {
  uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// Names of one pattern that differ in one number only, which may be there several times.
struct Family {
  std::vector<bool> varies;  // per run of digits
  std::vector<const NamePattern*> members;
};

std::vector<bool> runs_like(const NamePattern& name, size_t run) {
  std::vector<bool> like;
  for (const std::string_view digits : name.numbers)
    like.push_back(without_zeros(digits) == without_zeros(name.numbers[run]));
  return like;
}

// The families that come of taking `run` for the number that varies.
std::vector<Family> families_by(const std::vector<const NamePattern*>& members, size_t run) {
  std::vector<bool> varies(members.front()->numbers.size(), true);
  for (const NamePattern* member : members) {
    const std::vector<bool> like = runs_like(*member, run);
    for (size_t i = 0; i < like.size(); ++i) varies[i] = varies[i] && like[i];
  }
  std::map<std::vector<std::string_view>, Family> by_rest;
  for (const NamePattern* member : members) {
    std::vector<std::string_view> rest;
    for (size_t i = 0; i < varies.size(); ++i)
      if (!varies[i]) rest.push_back(member->numbers[i]);
    Family& family = by_rest[rest];
    family.varies = varies;
    family.members.push_back(member);
  }
  std::vector<Family> families;
  for (auto& [rest, family] : by_rest) families.push_back(std::move(family));
  return families;
}

std::vector<Family> fewest_families(const std::vector<const NamePattern*>& members) {
  std::vector<Family> fewest;
  for (size_t run = 0; run < members.front()->numbers.size(); ++run)
    if (auto families = families_by(members, run); fewest.empty() || families.size() < fewest.size())
      fewest = std::move(families);
  return fewest;
}

// "{0000-0063}"; nothing if the numbers are not all written alike.
std::optional<std::string> range_of(const Family& family, size_t run) {
  const auto digits = [run](const NamePattern* member) { return member->numbers[run]; };
  const auto [least, most] = std::ranges::minmax_element(
      family.members, {}, [&](const NamePattern* member) { return value_of(digits(member)); });
  const std::string_view first = digits(*least), last = digits(*most);
  const auto is_regular = [&](const NamePattern* member) {
    const std::string_view own = digits(member);
    if (own.size() > kMostDigits) return false;
    return first.size() == last.size() ? own.size() == first.size() : own.size() == 1 || own.front() != '0';
  };
  if (!std::ranges::all_of(family.members, is_regular)) return {};
  return fmt::format("{{{}-{}}}", first, last);
}

std::optional<std::string> text_of(const Family& family) {
  std::string text;
  size_t run = 0;
  const NamePattern& any = *family.members.front();
  for (const char c : any.pattern) {
    if (c != '#') {
      text += c;
    } else if (const size_t here = run++; family.members.size() == 1 || !family.varies[here]) {
      text += any.numbers[here];
    } else if (const auto range = range_of(family, here)) {
      text += *range;
    } else {
      return {};
    }
  }
  return text;
}

// A text taken apart again.
struct Ranges {
  struct Range {
    uint64_t first = 0, last = 0;
    size_t width = 0;  // with zeros in front; 0: without
  };
  std::vector<std::string> between;  // one more than ranges
  std::vector<Range> ranges;

  std::string name(uint64_t step) const {
    std::string name = between.front();
    for (size_t i = 0; i < ranges.size(); ++i)
      name += fmt::format("{:0{}}", ranges[i].first + step, ranges[i].width) + between[i + 1];
    return name;
  }
};

std::optional<Ranges::Range> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == text.npos) return {};
  const std::string_view first = text.substr(0, dash), last = text.substr(dash + 1);
  for (const std::string_view digits : {first, last})
    if (digits.empty() || digits.size() > kMostDigits || digits.find_first_not_of("0123456789") != digits.npos)
      return {};
  const Ranges::Range range{value_of(first), value_of(last), first.size() == last.size() ? first.size() : 0};
  if (range.last < range.first || range.last - range.first >= kLongestRange) return {};
  return range;
}

std::optional<Ranges> parse(std::string_view text) {
  Ranges result;
  while (true) {
    const size_t open = text.find('{');
    result.between.emplace_back(text.substr(0, open));
    if (open == text.npos) break;
    const size_t close = text.find('}', open);
    if (close == text.npos) return {};
    const auto range = parse_range(text.substr(open + 1, close - open - 1));
    if (!range) return {};
    result.ranges.push_back(*range);
    text.remove_prefix(close + 1);
  }
  const auto steps = [](const Ranges::Range& range) { return range.last - range.first; };
  for (const Ranges::Range& range : result.ranges)
    if (steps(range) != steps(result.ranges.front())) return {};
  return result;
}

bool may_match_one(const std::vector<std::string>& globs, const std::string& text) {
  const auto parsed = parse(text);
  if (!parsed) return true;
  const uint64_t steps = parsed->ranges.empty() ? 0 : parsed->ranges.front().last - parsed->ranges.front().first;
  for (uint64_t step = 0; step <= steps; ++step)
    if (matches_any(globs, parsed->name(step))) return true;
  return false;
}

}  // namespace

std::vector<std::string> name_ranges(std::span<const std::string_view> names) {
  std::vector<NamePattern> parts;
  for (const std::string_view name : names) {
    if (!is_plain(name) || name.find('#') != name.npos) return {};
    parts.push_back(take_apart(name));
  }
  std::map<std::string_view, std::vector<const NamePattern*>> by_pattern;
  for (const NamePattern& name : parts) by_pattern[name.pattern].push_back(&name);
  std::vector<std::string> texts;
  size_t bytes = 0;
  for (const auto& [pattern, members] : by_pattern) {
    const std::vector<Family> families =
        members.size() == 1 ? std::vector<Family>{{{}, members}} : fewest_families(members);
    for (const Family& family : families) {
      const auto text = text_of(family);
      if (!text || texts.size() == kMostTexts || (bytes += text->size()) > kMostBytes) return {};
      texts.push_back(*text);
    }
  }
  return texts;
}

bool may_match(const std::vector<std::string>& globs, std::span<const std::string> ranges) {
  if (globs.empty() || ranges.empty()) return true;
  return std::ranges::any_of(ranges, [&](const std::string& text) { return may_match_one(globs, text); });
}

}  // namespace forebay::engine
