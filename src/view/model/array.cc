#include "view/model/array.h"

#include <bit>

#include "format/npy.h"

namespace forebay::view {
namespace {

std::optional<io::ValueType> value_type_of(const DataType& type) {
  using io::ValueType;
  const int width = std::countr_zero(type.size);  // 1, 2, 4, 8 bytes: 0 to 3
  constexpr ValueType kSigned[] = {ValueType::int8, ValueType::int16, ValueType::int32, ValueType::int64};
  constexpr ValueType kUnsigned[] = {ValueType::uint8, ValueType::uint16, ValueType::uint32, ValueType::uint64};
  switch (type.kind) {
    case Kind::signed_int:
      return kSigned[width];
    case Kind::unsigned_int:
      return kUnsigned[width];
    case Kind::floating:
      if (type.size == 4) return ValueType::float32;
      if (type.size == 8) return ValueType::float64;
      return {};
    case Kind::opaque:
      return {};
  }
  return {};
}

}  // namespace

ElementType element_type(io::ValueType type) { return {io::data_type(type), type}; }

ElementType element_type(const DataType& type) {
  return {{type.kind, std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big, type.size},
          value_type_of(type)};
}

std::string npy_descr(const ElementType& type) {
  using io::ValueType;
  if (type.value == ValueType::complex64) return "<c8";
  if (type.value == ValueType::complex128) return "<c16";
  if (type.value == ValueType::long_double) return "<f16";
  if (type.value == ValueType::string) return "|S1";
  return format::npy_descr({type.data.kind, ByteOrder::little, type.data.size});
}

std::string to_string(const ElementType& type) {
  using io::ValueType;
  if (type.value) switch (*type.value) {
      case ValueType::long_double:
        return "longdouble";
      case ValueType::string:
        return "string";
      case ValueType::string_array:
        return "strings";
      case ValueType::complex64:
        return "complex64";
      case ValueType::complex128:
        return "complex128";
      default:
        break;
    }
  const std::string bits = std::to_string(8 * type.data.size);
  switch (type.data.kind) {
    case Kind::signed_int:
      return "int" + bits;
    case Kind::unsigned_int:
      return "uint" + bits;
    case Kind::floating:
      return "float" + bits;
    case Kind::opaque:
      return "x" + std::to_string(type.data.size);
  }
  return {};
}

}  // namespace forebay::view
