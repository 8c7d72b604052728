#include "io/method/parameters.h"

#include <algorithm>
#include <charconv>

#include "io/group/text.h"

namespace forebay::io {

Parameters::Parameters(std::string_view whole) : text_(whole) {
  std::string_view text = text_;
  const char separator = text.contains(';') ? ';' : ',';
  while (!text.empty()) {
    std::string_view pair = text.substr(0, text.find(separator));
    const size_t equals = pair.find('=');
    const std::string_view word = trimmed(pair.substr(0, equals));
    const std::string name = lower(word);
    if (!name.empty()) places_[name] = static_cast<size_t>(word.data() - text_.data());
    if (name == "io_parameters") pair = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (!name.empty()) values_[name] = equals == pair.npos ? "1" : std::string(trimmed(pair.substr(equals + 1)));
  }
}

const std::string* Parameters::find(std::string_view name) const {
  const auto it = values_.find(std::string(name));
  return it == values_.end() ? nullptr : &it->second;
}

std::string_view Parameters::text_before(std::string_view name) const {
  const auto it = places_.find(std::string(name));
  return std::string_view(text_).substr(0, it == places_.end() ? 0 : it->second);
}

std::string Parameters::text(std::string_view name, std::string otherwise) const {
  const std::string* value = find(name);
  return value ? *value : otherwise;
}

Outcome<uint64_t> Parameters::number(std::string_view name, uint64_t otherwise) const {
  const std::string* value = find(name);
  if (!value) return otherwise;
  uint64_t result = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), result);
  std::string unit = lower(std::string_view(end, value->data() + value->size()));
  if (unit.size() == 2 && unit[1] == 'b') unit.pop_back();
  static constexpr std::string_view kUnits = "kmg";
  const size_t place = unit.size() == 1 ? kUnits.find(unit[0]) : std::string_view::npos;
  const uint64_t factor = place == std::string_view::npos ? 1 : uint64_t{1} << (10 * (place + 1));
  if (error != std::errc() || (!unit.empty() && factor == 1) || __builtin_mul_overflow(result, factor, &result))
    return refuse(Code::invalid_argument, "parameter " + std::string(name) + " is \"" + *value + "\", not a number",
                  "give a whole number, with k, m or g behind it if you like");
  return result;
}

Outcome<bool> Parameters::flag(std::string_view name, bool otherwise) const {
  const std::string* value = find(name);
  if (!value) return otherwise;
  const std::string word = lower(*value);
  if (word == "1" || word == "yes" || word == "true" || word == "on") return true;
  if (word == "0" || word == "no" || word == "false" || word == "off") return false;
  return refuse(Code::invalid_argument, "parameter " + std::string(name) + " is \"" + *value + "\", neither yes nor no",
                "write 1 or 0");
}

}  // namespace forebay::io
