#include "base/meaning.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "base/with_type.h"

namespace forebay {
namespace {

constexpr ByteOrder kNative = std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

std::string number_text(long double value) {
  const auto narrow = static_cast<double>(value);
  const bool is_integer = std::trunc(value) == value && value >= -0x1p63L && value < 0x1p64L;
  if (static_cast<long double>(narrow) == value || !is_integer) return fmt::format("{}", narrow);
  return value < 0 ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{}", static_cast<uint64_t>(value));
}

template <class T>
std::optional<long double> parse_as(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return static_cast<long double>(value);
}

std::optional<long double> parse_number(std::string_view text) {
  if (const auto value = parse_as<int64_t>(text)) return value;
  if (const auto value = parse_as<uint64_t>(text)) return value;
  return parse_as<double>(text);
}

// Which elements of one type are holes.
template <class T>
class HoleTest {
 public:
  explicit HoleTest(const Meaning& meaning) {
    for (const long double fill : meaning.fills)
      if (const auto value = as_element(fill)) fills_.push_back(*value);
    if (meaning.least) low_ = bound(std::ceil(*meaning.least));
    if (meaning.most) high_ = bound(std::floor(*meaning.most));
    if constexpr (std::is_integral_v<T>) {
      constexpr auto kLowest = static_cast<long double>(std::numeric_limits<T>::lowest());
      constexpr auto kHighest = static_cast<long double>(std::numeric_limits<T>::max());
      all_ = (meaning.least && *meaning.least > kHighest) || (meaning.most && *meaning.most < kLowest);
    } else {
      if (meaning.least) low_ = static_cast<T>(*meaning.least);
      if (meaning.most) high_ = static_cast<T>(*meaning.most);
    }
  }

  bool operator()(T value) const {
    if (value < low_ || value > high_ || all_) return true;
    for (const T fill : fills_)
      if (value == fill) return true;
    return false;
  }

 private:
  static std::optional<T> as_element(long double value) {
    if constexpr (std::is_integral_v<T>) {
      const T element = bound(value);
      return static_cast<long double>(element) == value ? std::optional(element) : std::nullopt;
    } else {
      return static_cast<T>(value);
    }
  }

  static T bound(long double value) {
    using Limits = std::numeric_limits<T>;
    if (!(value > static_cast<long double>(Limits::lowest()))) return Limits::lowest();
    if (value >= static_cast<long double>(Limits::max())) return Limits::max();
    return static_cast<T>(value);
  }

  static constexpr bool kHasInfinity = std::numeric_limits<T>::has_infinity;
  T low_ = kHasInfinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  T high_ = kHasInfinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  bool all_ = false;
  std::vector<T> fills_;
};

template <class T>
T load(const std::byte* from, bool swapped) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof bytes);
  if (swapped) std::ranges::reverse(bytes);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T, class To>
uint64_t meant_as(const Meaning& meaning, bool swapped, std::span<const std::byte> values, std::byte* out) {
  const HoleTest<T> is_hole(meaning);
  const double scale = meaning.scale.value_or(1), offset = meaning.offset.value_or(0);
  uint64_t holes = 0;
  for (size_t at = 0; at + sizeof(T) <= values.size(); at += sizeof(T), out += sizeof(To)) {
    const T stored = load<T>(values.data() + at, swapped);
    const bool hole = is_hole(stored);
    holes += hole;
    To value{};
    if constexpr (std::is_floating_point_v<To>) {
      if (hole)
        value = std::numeric_limits<To>::quiet_NaN();
      else if (meaning.is_packed())
        value = static_cast<To>(static_cast<double>(stored) * scale + offset);
      else
        value = static_cast<To>(stored);
    } else {
      value = static_cast<To>(stored);
    }
    std::memcpy(out, &value, sizeof value);
  }
  return holes;
}

}  // namespace

std::string to_text(const Meaning& meaning) {
  std::string text;
  for (const long double fill : meaning.fills) text += " fill " + number_text(fill);
  if (meaning.least) text += " least " + number_text(*meaning.least);
  if (meaning.most) text += " most " + number_text(*meaning.most);
  if (meaning.is_unsigned) text += " unsigned";
  if (meaning.scale) text += fmt::format(" scale {}", *meaning.scale);
  if (meaning.offset) text += fmt::format(" offset {}", *meaning.offset);
  if (meaning.is_packed()) text += fmt::format(" bytes {}", meaning.unpacked_bytes);
  return text.empty() ? text : text.substr(1);
}

std::optional<Meaning> parse_meaning(std::string_view text) {
  if (text.size() > kMostMeaningBytes) return {};
  Meaning meaning;
  const auto next = [&text] {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  };
  while (!text.empty()) {
    const std::string_view word = next();
    if (word == "unsigned") {
      meaning.is_unsigned = true;
      continue;
    }
    const auto number = parse_number(next());
    if (!number) return {};
    if (word == "fill" && std::isfinite(*number))
      meaning.fills.push_back(*number);
    else if (word == "least" && !std::isnan(*number))
      meaning.least = *number;
    else if (word == "most" && !std::isnan(*number))
      meaning.most = *number;
    else if (word == "scale" && std::isfinite(*number))
      meaning.scale = static_cast<double>(*number);
    else if (word == "offset" && std::isfinite(*number))
      meaning.offset = static_cast<double>(*number);
    else if (word == "bytes" && (*number == 4 || *number == 8))
      meaning.unpacked_bytes = static_cast<uint16_t>(*number);
    else
      return {};
  }
  return meaning;
}

bool can_mean(const DataType& type) { return type.is_number() && (type.kind != Kind::floating || type.size != 2); }

DataType stored_type(const Meaning& meaning, const DataType& type) {
  DataType stored = type;
  if (meaning.is_unsigned && stored.kind == Kind::signed_int) stored.kind = Kind::unsigned_int;
  return stored;
}

DataType meant_type(const Meaning& meaning, const DataType& type) {
  DataType meant = stored_type(meaning, type);
  if (meant.size > 1) meant.order = kNative;
  const bool is_floating = meant.kind == Kind::floating;
  if (meaning.is_packed()) {
    const uint16_t least = is_floating ? meant.size : meant.size > 2 ? 8 : 4;
    meant = {Kind::floating, kNative, std::max(meaning.unpacked_bytes, least)};
  } else if (meaning.has_holes() && !is_floating && meant.size < 8) {
    meant = {Kind::floating, kNative, static_cast<uint16_t>(meant.size > 2 ? 8 : 4)};
  }
  return meant;
}

double meant(const Meaning& meaning, const DataType& to, double stored) {
  if (!meaning.is_packed()) return stored;
  const double value = stored * meaning.scale.value_or(1) + meaning.offset.value_or(0);
  return to.kind == Kind::floating && to.size == 4 ? static_cast<float>(value) : value;
}

uint64_t to_meant(const Meaning& meaning, const DataType& type, const DataType& to, std::span<const std::byte> values,
                  std::byte* out) {
  const bool swapped = type.size > 1 && type.order != kNative;
  return with_type(stored_type(meaning, type), [&](auto stored) -> uint64_t {
    using Stored = decltype(stored);
    if (to.kind != Kind::floating) return meant_as<Stored, Stored>(meaning, swapped, values, out);
    return to.size == 4 ? meant_as<Stored, float>(meaning, swapped, values, out)
                        : meant_as<Stored, double>(meaning, swapped, values, out);
  });
}

Meaning without_packing(const Meaning& meaning) {
  Meaning holes = meaning;
  holes.scale.reset();
  holes.offset.reset();
  return holes;
}

DataType with_room_for_nan(const DataType& type) {
  return {Kind::floating, kNative, type.kind == Kind::floating ? type.size : uint16_t{8}};
}

void find_holes(const Meaning& meaning, const DataType& type, std::span<const std::byte> values, uint8_t* out) {
  const bool swapped = type.size > 1 && type.order != kNative;
  with_type(stored_type(meaning, type), [&](auto stored) {
    using Stored = decltype(stored);
    const HoleTest<Stored> is_hole(meaning);
    for (size_t at = 0; at + sizeof(Stored) <= values.size(); at += sizeof(Stored))
      *out++ = is_hole(load<Stored>(values.data() + at, swapped));
  });
}

}  // namespace forebay
