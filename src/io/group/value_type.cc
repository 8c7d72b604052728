#include "io/group/value_type.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "io/group/text.h"

namespace forebay::io {
namespace {

struct TypeFacts {
  ValueType type;
  uint16_t bytes;
  Kind kind;
  std::string_view name;
};

constexpr std::array<TypeFacts, 15> kTypes{{
    {ValueType::int8, 1, Kind::signed_int, "byte"},
    {ValueType::int16, 2, Kind::signed_int, "short"},
    {ValueType::int32, 4, Kind::signed_int, "integer"},
    {ValueType::int64, 8, Kind::signed_int, "long long"},
    {ValueType::uint8, 1, Kind::unsigned_int, "unsigned byte"},
    {ValueType::uint16, 2, Kind::unsigned_int, "unsigned short"},
    {ValueType::uint32, 4, Kind::unsigned_int, "unsigned integer"},
    {ValueType::uint64, 8, Kind::unsigned_int, "unsigned long long"},
    {ValueType::float32, 4, Kind::floating, "real"},
    {ValueType::float64, 8, Kind::floating, "double"},
    {ValueType::long_double, 16, Kind::opaque, "long double"},
    {ValueType::string, 1, Kind::opaque, "string"},
    {ValueType::complex64, 8, Kind::opaque, "complex"},
    {ValueType::complex128, 16, Kind::opaque, "double complex"},
    {ValueType::string_array, 0, Kind::opaque, "string array"},
}};

const TypeFacts& facts(ValueType type) {
  const auto* at = std::ranges::find(kTypes, type, &TypeFacts::type);
  return at == kTypes.end() ? kTypes.front() : *at;
}

// Signed integers are listed once; "unsigned " before any of them gives the unsigned type.
constexpr std::pair<std::string_view, ValueType> kXmlNames[] = {
    {"byte", ValueType::int8},
    {"char", ValueType::int8},
    {"integer*1", ValueType::int8},
    {"short", ValueType::int16},
    {"integer*2", ValueType::int16},
    {"integer", ValueType::int32},
    {"int", ValueType::int32},
    {"integer*4", ValueType::int32},
    {"long", ValueType::int64},
    {"long long", ValueType::int64},
    {"integer*8", ValueType::int64},
    {"real", ValueType::float32},
    {"real*4", ValueType::float32},
    {"float", ValueType::float32},
    {"double", ValueType::float64},
    {"real*8", ValueType::float64},
    {"long float", ValueType::float64},
    {"real*16", ValueType::long_double},
    {"long double", ValueType::long_double},
    {"string", ValueType::string},
    {"complex", ValueType::complex64},
    {"complex*8", ValueType::complex64},
    {"double complex", ValueType::complex128},
    {"complex*16", ValueType::complex128},
};

std::optional<ValueType> unsigned_of(ValueType type) {
  switch (type) {
    case ValueType::int8:
      return ValueType::uint8;
    case ValueType::int16:
      return ValueType::uint16;
    case ValueType::int32:
      return ValueType::uint32;
    case ValueType::int64:
      return ValueType::uint64;
    default:
      return std::nullopt;
  }
}

}  // namespace

uint64_t element_bytes(ValueType type) { return facts(type).bytes; }

DataType data_type(ValueType type) {
  const TypeFacts& of = facts(type);
  const uint16_t size = std::max<uint16_t>(of.bytes, 1);
  const bool is_big = std::endian::native == std::endian::big && of.kind != Kind::opaque && size > 1;
  return {of.kind, is_big ? ByteOrder::big : ByteOrder::little, size};
}

bool is_integer(ValueType type) {
  const Kind kind = facts(type).kind;
  return kind == Kind::signed_int || kind == Kind::unsigned_int;
}

std::string_view to_string(ValueType type) { return facts(type).name; }

std::optional<ValueType> parse_value_type(std::string_view name) {
  const std::string wanted = lower(trimmed(name));
  constexpr std::string_view kUnsigned = "unsigned ";
  const bool is_unsigned = wanted.starts_with(kUnsigned);
  const std::string_view base = trimmed(std::string_view(wanted).substr(is_unsigned ? kUnsigned.size() : 0));
  for (const auto& [known, type] : kXmlNames)
    if (known == base) return is_unsigned ? unsigned_of(type) : type;
  return std::nullopt;
}

std::vector<std::string> value_type_names() {
  std::vector<std::string> names;
  for (const auto& [name, type] : kXmlNames) {
    names.emplace_back(name);
    if (unsigned_of(type)) names.push_back("unsigned " + std::string(name));
  }
  return names;
}

std::optional<ValueType> value_type(int number) {
  const auto* at = std::ranges::find(kTypes, number, [](const TypeFacts& of) { return static_cast<int>(of.type); });
  if (at == kTypes.end()) return std::nullopt;
  return at->type;
}

}  // namespace forebay::io
