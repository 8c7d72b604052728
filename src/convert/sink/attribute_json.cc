#include "convert/sink/attribute_json.h"

#include <cmath>
#include <cstring>
#include <string>

namespace forebay::convert {
namespace {

template <class T>
Json number_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  }
  return value;
}

// Null of what is no number.
Json number_at(const DataType& type, const std::byte* at) {
  const bool is_signed = type.kind == Kind::signed_int;
  if (type.kind == Kind::floating && type.size == 4) return number_at<float>(at);
  if (type.kind == Kind::floating && type.size == 8) return number_at<double>(at);
  if (!type.is_number() || type.kind == Kind::floating) return {};
  switch (type.size) {
    case 1:
      return is_signed ? number_at<int8_t>(at) : number_at<uint8_t>(at);
    case 2:
      return is_signed ? number_at<int16_t>(at) : number_at<uint16_t>(at);
    case 4:
      return is_signed ? number_at<int32_t>(at) : number_at<uint32_t>(at);
    default:
      return is_signed ? number_at<int64_t>(at) : number_at<uint64_t>(at);
  }
}

Json texts_of(const view::Attribute& attribute) {
  Json list = Json::array();
  std::string_view left = as_text(attribute.value);
  for (uint64_t i = 0; i < attribute.count && !left.empty(); ++i) {
    const std::string_view text = left.substr(0, left.find('\0'));
    list.push_back(std::string(text));
    left.remove_prefix(std::min(left.size(), text.size() + 1));
  }
  return list;
}

Json value_of(const view::Attribute& attribute) {
  using io::ValueType;
  const auto type = attribute.type.value;
  if (type == ValueType::string) return std::string(as_text(attribute.value));
  if (type == ValueType::string_array) return texts_of(attribute);
  const bool is_complex = type == ValueType::complex64 || type == ValueType::complex128;
  DataType part = attribute.type.data;
  if (is_complex)
    part = {Kind::floating, ByteOrder::little, static_cast<uint16_t>(type == ValueType::complex64 ? 4 : 8)};
  Json list = Json::array();
  for (size_t at = 0; part.size > 0 && at + part.size <= attribute.value.size(); at += part.size) {
    Json number = number_at(part, attribute.value.data() + at);
    if (number.is_null()) return {};
    list.push_back(std::move(number));
  }
  return list.size() == 1 ? list[0] : list;
}

}  // namespace

Json json_of(std::span<const view::Attribute> attributes) {
  Json json = Json::object();
  for (const view::Attribute& attribute : attributes)
    if (Json value = value_of(attribute); !value.is_null()) json[attribute.name] = std::move(value);
  return json;
}

}  // namespace forebay::convert
