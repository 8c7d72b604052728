#include "convert/plan/fill.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "base/with_type.h"

namespace forebay::convert {
namespace {

constexpr const char* kFillValue = "_FillValue";

template <class Number>
std::optional<Number> parse(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Integers also as "-9999.0" and "1e6" say them.
template <class Number>
std::optional<Number> number_of(const std::string& text) {
  const auto number = parse<Number>(text);
  if (number || !std::is_integral_v<Number>) return number;
  const auto real = parse<double>(text);
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (!real || std::trunc(*real) != *real || std::abs(*real) > kExact) return std::nullopt;
  if (*real < static_cast<double>(std::numeric_limits<Number>::lowest()) ||
      *real > static_cast<double>(std::numeric_limits<Number>::max()))
    return std::nullopt;
  return static_cast<Number>(*real);
}

template <class Number>
Bytes bytes_of(const Number& number) {
  Bytes bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

view::Attribute* find(Dataset& dataset) {
  const auto found = std::ranges::find(dataset.attributes, kFillValue, &view::Attribute::name);
  return found == dataset.attributes.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Bytes> element_of(const view::ElementType& type, const std::string& text) {
  constexpr uint16_t kHalfNan = 0x7e00;
  if (!type.data.is_number()) return std::nullopt;
  if (type.data.kind == Kind::floating && type.data.size == 2) {
    const auto number = parse<double>(text);
    if (!number || !std::isnan(*number)) return std::nullopt;
    return bytes_of(kHalfNan);
  }
  return with_type(type.data, [&](auto zero) -> std::optional<Bytes> {
    const auto number = number_of<decltype(zero)>(text);
    if (!number) return std::nullopt;
    return bytes_of(*number);
  });
}

void add_fill(Plan& plan, const std::string& text) {
  uint64_t without = 0;
  for (Dataset& dataset : plan.datasets) {
    if (dataset.form != view::Form::global || !dataset.values.empty()) continue;
    if (const view::Attribute* const own = find(dataset)) {
      if (own->count == 1 && own->value.size() == dataset.type.bytes() && own->type.data == dataset.type.data)
        dataset.fill = own->value;
      continue;
    }
    if (text.empty()) continue;
    auto element = element_of(dataset.type, text);
    if (!element) {
      ++without;
      continue;
    }
    dataset.fill = *std::move(element);
    dataset.attributes.push_back({.name = kFillValue,
                                  .group = {},
                                  .type = dataset.type,
                                  .count = 1,
                                  .value = dataset.fill,
                                  .variable = {},
                                  .order = 0});
  }
  if (without > 0)
    plan.remarks.push_back(fmt::format("{} arrays have no element {}: what no rank wrote of them is 0", without, text));
}

}  // namespace forebay::convert
