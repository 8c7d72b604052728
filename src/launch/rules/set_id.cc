#include "launch/rules/set_id.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace forebay::launch::rules {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_zeros(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? digits.substr(digits.size() - 1) : digits.substr(first);
}

std::optional<double> decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || text[0] < '0' || text[0] > '9')
    return {};
  return value;
}

std::strong_ordering compare_digits(std::string_view one, std::string_view other) {
  one = without_zeros(one);
  other = without_zeros(other);
  if (one.size() != other.size()) return one.size() <=> other.size();
  return one <=> other;
}

// The text with its numbers cut out, and these.
struct Cut {
  std::string frame;
  std::vector<std::string_view> numbers;
};

Cut cut(std::string_view text) {
  Cut cut;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    cut.frame += end > at ? '0' : text[at];
    if (end > at) cut.numbers.push_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return cut;
}

}  // namespace

std::string to_string(const SetId& id) {
  std::string text;
  for (const auto& [name, value] : id.series) text += value + ":";
  text += id.label.empty() ? "*" : id.label;
  return id.version > 1 ? fmt::format("{}#{}", text, id.version) : text;
}

std::string name_of(const SetId& id, std::string_view otherwise) {
  std::string name;
  const auto add = [&](std::string_view part) {
    name += (name.empty() || part.empty() ? "" : "_") + std::string(part);
  };
  for (const auto& each : id.series) add(each.second);
  add(id.label);
  if (name.empty()) name = otherwise;
  for (char& c : name) {
    const bool is_plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
    if (!is_plain) c = '_';
  }
  return id.version > 1 ? fmt::format("{}-v{}", name, id.version) : name;
}

std::string step_text(std::string_view label) { return std::string(is_number(label) ? without_zeros(label) : label); }

bool is_same_label(std::string_view one, std::string_view other) {
  return one == other || (is_number(one) && is_number(other) && without_zeros(one) == without_zeros(other));
}

std::partial_ordering compare_labels(std::string_view one, std::string_view other) {
  if (one == other) return std::partial_ordering::equivalent;
  if (is_number(one) && is_number(other)) return compare_digits(one, other);
  if (const auto a = decimal(one), b = decimal(other); a && b) return *a <=> *b;
  const Cut a = cut(one), b = cut(other);
  if (a.frame != b.frame || a.numbers.empty()) return std::partial_ordering::unordered;
  for (size_t i = 0; i < a.numbers.size(); ++i)
    if (const auto order = compare_digits(a.numbers[i], b.numbers[i]); order != 0) return order;
  return std::partial_ordering::equivalent;
}

}  // namespace forebay::launch::rules
