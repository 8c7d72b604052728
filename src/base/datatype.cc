#include "base/datatype.h"

#include <charconv>

namespace forebay {

bool DataType::is_valid() const {
  switch (kind) {
    case Kind::opaque:
      return size >= 1 && order == ByteOrder::little;
    case Kind::signed_int:
    case Kind::unsigned_int:
      return (size == 1 && order == ByteOrder::little) || size == 2 || size == 4 || size == 8;
    case Kind::floating:
      return size == 2 || size == 4 || size == 8;
  }
  return false;
}

std::string DataType::name() const {
  static constexpr char kLetters[] = {'x', 'i', 'u', 'f'};
  std::string text = order == ByteOrder::big ? ">" : "";
  return text + kLetters[static_cast<int>(kind)] + std::to_string(size);
}

Result<DataType> DataType::parse(std::string_view name) {
  const auto bad = [&] {
    return fail(ErrorKind::invalid_argument, "'" + std::string(name) + "' is not a datatype", {}, {},
                "use f4, f8, i1 to i8, u1 to u8 or xN, with > in front for big-endian");
  };
  DataType type;
  std::string_view rest = name;
  if (rest.starts_with('>')) type.order = ByteOrder::big;
  if (rest.starts_with('>') || rest.starts_with('<')) rest.remove_prefix(1);
  if (rest.size() < 2) return bad();
  switch (rest.front()) {
    case 'x':
      type.kind = Kind::opaque;
      break;
    case 'i':
      type.kind = Kind::signed_int;
      break;
    case 'u':
      type.kind = Kind::unsigned_int;
      break;
    case 'f':
      type.kind = Kind::floating;
      break;
    default:
      return bad();
  }
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), type.size);
  if (error != std::errc{} || end != rest.data() + rest.size()) return bad();
  if (type.size == 1) type.order = ByteOrder::little;
  if (!type.is_valid()) return bad();
  return type;
}

}  // namespace forebay
