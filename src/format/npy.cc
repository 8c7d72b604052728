#include "format/npy.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bytes.h"
#include "base/cursor.h"

namespace forebay::format {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyHeader {
  std::string_view descr;  // what stands between the quotes, or a whole bracketed list
  bool structured = false;
  bool fortran_order = false;
  Shape shape;
};

// Parses the Python dictionary literal {'descr': ..., 'fortran_order': ..., 'shape': ...}, exactly these keys, and
// nothing else of Python. ("NEP 1: A simple file format for NumPy arrays".)
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}
  std::optional<NpyHeader> parse();

 private:
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  bool eat(std::string_view token);
  std::optional<std::string_view> quoted();
  std::optional<std::string_view> bracketed();
  bool entry(NpyHeader& header);
  bool descr(NpyHeader& header);
  bool shape(NpyHeader& header);

  std::string_view rest_;
};

bool HeaderParser::eat(std::string_view token) {
  skip_spaces();
  if (!rest_.starts_with(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

std::optional<std::string_view> HeaderParser::quoted() {
  skip_spaces();
  if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return {};
  const size_t end = rest_.find(rest_.front(), 1);
  if (end == std::string_view::npos) return {};
  const std::string_view text = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return text;
}

// A list with everything in it, by counting brackets outside of quotes.
std::optional<std::string_view> HeaderParser::bracketed() {
  size_t depth = 0;
  char quote = 0;
  for (size_t i = 0; i < rest_.size(); ++i) {
    const char c = rest_[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[' || c == '(') {
      ++depth;
    } else if ((c == ']' || c == ')') && --depth == 0) {
      const std::string_view text = rest_.substr(0, i + 1);
      rest_.remove_prefix(i + 1);
      return text;
    }
  }
  return {};
}

bool HeaderParser::descr(NpyHeader& header) {
  skip_spaces();
  header.structured = rest_.starts_with('[');
  const auto text = header.structured ? bracketed() : quoted();
  if (text) header.descr = *text;
  return text.has_value();
}

bool HeaderParser::shape(NpyHeader& header) {
  if (!eat("(")) return false;
  while (!eat(")")) {
    skip_spaces();
    uint64_t dim = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), dim);
    if (error != std::errc{} || header.shape.size() >= kMaxDims) return false;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    header.shape.push_back(dim);
    eat("L");  // as Python 2 wrote its long integers
    if (!eat(",") && !(skip_spaces(), rest_.starts_with(')'))) return false;
  }
  return true;
}

bool HeaderParser::entry(NpyHeader& header) {
  const auto key = quoted();
  if (!key || !eat(":")) return false;
  if (*key == "descr") return descr(header);
  if (*key == "shape") return shape(header);
  if (*key != "fortran_order") return false;
  header.fortran_order = eat("True");
  return header.fortran_order || eat("False");
}

std::optional<NpyHeader> HeaderParser::parse() {
  NpyHeader header;
  if (!eat("{")) return {};
  for (int i = 0; i < 3; ++i)
    if (!entry(header) || (!eat(",") && i < 2)) return {};
  if (!eat("}")) return {};
  skip_spaces();
  if (!rest_.empty() || header.descr.empty()) return {};
  return header;
}

// The element type of a simple descr such as "<f8": nothing if it is none. NumPy's "protocol" type strings.
std::optional<DataType> parse_descr(std::string_view descr) {
  if (descr.size() < 3) return {};
  const char order = descr[0], kind = descr[1];
  if (order != '<' && order != '>' && order != '|' && order != '=') return {};
  std::string_view digits = descr.substr(2);
  uint16_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const bool whole = end == digits.data() + digits.size() || *end == '[';  // dates carry a unit: <M8[ns]
  if (error != std::errc{} || !whole || size == 0) return {};
  DataType type{.kind = Kind::opaque, .order = ByteOrder::little, .size = size};
  if (kind == 'i' || kind == 'M' || kind == 'm') type.kind = Kind::signed_int;
  if (kind == 'u' || kind == 'b') type.kind = Kind::unsigned_int;
  if (kind == 'f') type.kind = Kind::floating;
  if (type.is_number() && order == '>' && size > 1) type.order = ByteOrder::big;
  if (!type.is_valid()) type = {.kind = Kind::opaque, .order = ByteOrder::little, .size = size};
  if (kind == 'U') {
    constexpr uint16_t kBytesPerCharacter = 4;
    if (__builtin_mul_overflow(size, kBytesPerCharacter, &type.size)) return {};
  }
  return std::string_view("iubfcSUVMm").contains(kind) ? std::optional(type) : std::nullopt;
}

// The type of elements whose description is too rich for us, from how many bytes each of them takes.
DataType measured_type(uint64_t elements, uint64_t bytes) {
  if (elements == 0 || bytes % elements != 0 || bytes / elements > UINT16_MAX || bytes == 0) return kBytes;
  return {.kind = Kind::opaque, .order = ByteOrder::little, .size = static_cast<uint16_t>(bytes / elements)};
}

bool has_objects(const NpyHeader& header) {
  return header.descr.contains("|O") || header.descr.contains("'O'") || header.descr == "O";
}

}  // namespace

std::string npy_descr(const DataType& type) {
  const char order = !type.is_number() || type.size == 1 ? '|' : type.order == ByteOrder::big ? '>' : '<';
  constexpr char kLetters[] = {'V', 'i', 'u', 'f'};
  return fmt::format("{}{}{}", order, kLetters[static_cast<size_t>(type.kind)], type.size);
}

std::string npy_header(std::string_view descr, const Shape& shape, bool fortran_order) {
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}{}), }}", descr, fortran_order ? "True" : "False",
                  fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr size_t kPrefix = 10, kAlignment = 64;
  text.append(kAlignment - 1 - (kPrefix + text.size()) % kAlignment, ' ');
  text += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

bool is_npy(std::span<const std::byte> head) {
  return as_text(head).starts_with(kMagic) && head.size() > kMagic.size() && head[kMagic.size()] >= std::byte{1} &&
         head[kMagic.size()] <= std::byte{3};
}

Result<Variable> read_npy(const ByteSource& source, uint64_t offset, uint64_t size) {
  constexpr uint64_t kMaxHeader = 1 << 20;
  const auto corrupt = [&](const char* what) {
    return fail(ErrorKind::corrupt, std::string("npy: ") + what, source.name(), offset);
  };
  Bytes buffer(std::min<uint64_t>(size, 12));
  FOREBAY_CHECK(source.read_at(offset, buffer));
  if (!is_npy(buffer)) return corrupt("no .npy header");
  Cursor prefix(buffer);
  prefix.skip(kMagic.size());
  const uint8_t version = prefix.u8();
  prefix.skip(1);
  const uint64_t length = version == 1 ? prefix.u16() : prefix.u32();
  const uint64_t begin = prefix.position();
  if (!prefix.ok() || length > kMaxHeader || length > size - begin) return corrupt("a header that does not fit");
  buffer.resize(length);
  FOREBAY_CHECK(source.read_at(offset + begin, buffer));
  auto header = HeaderParser(as_text(buffer)).parse();
  if (!header) return corrupt("a header that cannot be understood");
  Variable variable{.path = "/data", .type = {}, .shape = std::move(header->shape), .block = {}, .extents = {}};
  if (has_objects(*header)) return variable;
  const uint64_t data = size - begin - length, elements = element_count(variable.shape);
  variable.type =
      (header->structured ? std::nullopt : parse_descr(header->descr)).value_or(measured_type(elements, data));
  // An array in Fortran order is, byte for byte, the array of the reversed shape in C order.
  if (header->fortran_order) std::ranges::reverse(variable.shape);
  uint64_t bytes = elements;
  if (__builtin_mul_overflow(bytes, uint64_t{variable.type.size}, &bytes) || bytes > data)
    return corrupt("the file is shorter than its array");
  if (bytes > 0) variable.extents = {{.offset = offset + begin + length, .length = bytes}};
  return variable;
}

std::optional<bool> is_fortran_npy(std::span<const std::byte> before) {
  const size_t begin = as_text(before).rfind(kMagic);
  if (begin == std::string_view::npos || !is_npy(before.subspan(begin))) return {};
  Cursor prefix(before.subspan(begin));
  prefix.skip(kMagic.size());
  const uint8_t version = prefix.u8();
  prefix.skip(1);
  const uint64_t length = version == 1 ? prefix.u16() : prefix.u32();
  if (!prefix.ok() || length != before.size() - begin - prefix.position()) return {};
  const auto header = HeaderParser(as_text(before.last(length))).parse();
  return header ? std::optional(header->fortran_order) : std::nullopt;
}

}  // namespace forebay::format
