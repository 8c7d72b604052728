#include "io/group/attribute_value.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "io/group/name_index.h"
#include "io/group/text.h"

namespace forebay::io {
namespace {

template <class T>
Bytes bytes_of(const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  return Bytes(first, first + sizeof value);
}

std::unexpected<Failure> no_such_value(ValueType type, std::string_view text) {
  return refuse(Code::invalid_attribute_value, fmt::format("'{}' is no value of type {}", text, to_string(type)));
}

template <class T>
Outcome<T> parse_number(ValueType type, std::string_view text) {
  std::string_view digits = trimmed(text);
  if (digits.starts_with('+') && !digits.substr(1).starts_with('-')) digits.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return no_such_value(type, text);
  return value;
}

template <class T>
Outcome<Bytes> parse_one(ValueType type, std::string_view text) {
  FOREBAY_TRY(const T value, parse_number<T>(type, text));
  return bytes_of(value);
}

template <class T>
Outcome<Bytes> parse_complex(ValueType type, std::string_view text) {
  std::string_view inside = trimmed(text);
  if (inside.starts_with('(') && inside.ends_with(')')) inside = inside.substr(1, inside.size() - 2);
  const size_t comma = inside.find(',');
  T parts[2] = {};
  FOREBAY_TRY(parts[0], parse_number<T>(type, inside.substr(0, comma)));
  if (comma != std::string_view::npos) {
    FOREBAY_TRY(parts[1], parse_number<T>(type, inside.substr(comma + 1)));
  }
  return bytes_of(parts);
}

// std::from_chars has long double as well, but leaves what pads it as it was.
Outcome<Bytes> parse_long_double(std::string_view text) {
  FOREBAY_TRY(const long double value, parse_number<long double>(ValueType::long_double, text));
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, std::numeric_limits<long double>::digits == 64 ? 10 : sizeof value);
  return bytes;
}

template <class T>
std::optional<int64_t> integer_at(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
  return static_cast<int64_t>(value);
}

void append_text(Bytes& bytes, const char* text, bool with_end) {
  const auto* first = reinterpret_cast<const std::byte*>(text);
  bytes.insert(bytes.end(), first, first + std::strlen(text) + (with_end ? 1 : 0));
}

}  // namespace

Outcome<Bytes> parse_value(ValueType type, std::string_view text) {
  switch (type) {
    case ValueType::int8:
      return parse_one<int8_t>(type, text);
    case ValueType::int16:
      return parse_one<int16_t>(type, text);
    case ValueType::int32:
      return parse_one<int32_t>(type, text);
    case ValueType::int64:
      return parse_one<int64_t>(type, text);
    case ValueType::uint8:
      return parse_one<uint8_t>(type, text);
    case ValueType::uint16:
      return parse_one<uint16_t>(type, text);
    case ValueType::uint32:
      return parse_one<uint32_t>(type, text);
    case ValueType::uint64:
      return parse_one<uint64_t>(type, text);
    case ValueType::float32:
      return parse_one<float>(type, text);
    case ValueType::float64:
      return parse_one<double>(type, text);
    case ValueType::long_double:
      return parse_long_double(text);
    case ValueType::complex64:
      return parse_complex<float>(type, text);
    case ValueType::complex128:
      return parse_complex<double>(type, text);
    case ValueType::string: {
      const auto bytes = as_bytes(text);
      return Bytes(bytes.begin(), bytes.end());
    }
    case ValueType::string_array:
      break;
  }
  return refuse(Code::invalid_attribute_type, "an array of strings cannot be given as one text",
                "give its strings by value");
}

Outcome<AttributeDefinition> make_attribute(const GroupDefinition& group, std::string name, std::string path,
                                            ValueType type, std::string_view value, std::string_view variable) {
  AttributeDefinition attribute{.name = std::move(name), .path = std::move(path), .type = type};
  const auto named = [&](Failure failure) {
    failure.error.what = fmt::format("attribute '{}': {}", attribute.full_name(), failure.error.what);
    return std::unexpected(std::move(failure));
  };
  if (!value.empty() && !variable.empty())
    return named(refuse(Code::invalid_attribute_value, "it has both a value and a variable", "leave one out").error());
  if (variable.empty()) {
    auto bytes = parse_value(type, value);
    if (!bytes) return named(std::move(bytes.error()));
    attribute.value = std::move(*bytes);
    return attribute;
  }
  const NameIndex names(group);
  const auto place = names.variable(variable);
  if (!place) {
    Failure failure = place.error();
    failure.code = Code::invalid_attribute_reference;
    return named(std::move(failure));
  }
  attribute.type = group.variables[*place].type;
  attribute.variable = variable;
  return attribute;
}

Outcome<AttributeDefinition> make_attribute(std::string name, std::string path, ValueType type, uint64_t count,
                                            const void* values) {
  AttributeDefinition attribute{.name = std::move(name), .path = std::move(path), .type = type};
  if (!values || count == 0)
    return refuse(Code::invalid_attribute_value,
                  fmt::format("attribute '{}' is given no values", attribute.full_name()));
  if (type == ValueType::string) {
    append_text(attribute.value, static_cast<const char*>(values), false);
  } else if (type == ValueType::string_array) {
    attribute.count = count;
    const auto* texts = static_cast<const char* const*>(values);
    for (uint64_t i = 0; i < count; ++i) append_text(attribute.value, texts[i] ? texts[i] : "", true);
  } else {
    attribute.count = count;
    const auto* first = static_cast<const std::byte*>(values);
    attribute.value.assign(first, first + count * element_bytes(type));
  }
  return attribute;
}

std::optional<int64_t> integer_value(const AttributeDefinition& attribute) {
  if (!attribute.variable.empty() || attribute.count != 1 || !is_integer(attribute.type)) return std::nullopt;
  if (attribute.value.size() != element_bytes(attribute.type)) return std::nullopt;
  return integer_value(attribute.type, attribute.value.data());
}

std::optional<int64_t> integer_value(ValueType type, const void* value) {
  switch (type) {
    case ValueType::int8:
      return integer_at<int8_t>(value);
    case ValueType::int16:
      return integer_at<int16_t>(value);
    case ValueType::int32:
      return integer_at<int32_t>(value);
    case ValueType::int64:
      return integer_at<int64_t>(value);
    case ValueType::uint8:
      return integer_at<uint8_t>(value);
    case ValueType::uint16:
      return integer_at<uint16_t>(value);
    case ValueType::uint32:
      return integer_at<uint32_t>(value);
    case ValueType::uint64:
      return integer_at<uint64_t>(value);
    default:
      return std::nullopt;
  }
}

}  // namespace forebay::io
