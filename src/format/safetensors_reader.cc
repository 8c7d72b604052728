#include "format/safetensors_reader.h"

#include <algorithm>

#include "base/bytes.h"
#include "format/safetensors_header.h"

namespace forebay::format {
namespace {

constexpr uint64_t kMaxHeader = 100'000'000;  // the format's own limit
constexpr uint64_t kLengthBytes = 8;

DataType type_of(std::string_view dtype) {
  struct Row {
    std::string_view dtype;
    DataType type;
  };
  constexpr auto kLittle = ByteOrder::little;
  static constexpr Row kTypes[] = {
      {"F64", {Kind::floating, kLittle, 8}},     {"F32", {Kind::floating, kLittle, 4}},
      {"F16", {Kind::floating, kLittle, 2}},     {"I64", {Kind::signed_int, kLittle, 8}},
      {"I32", {Kind::signed_int, kLittle, 4}},   {"I16", {Kind::signed_int, kLittle, 2}},
      {"I8", {Kind::signed_int, kLittle, 1}},    {"U64", {Kind::unsigned_int, kLittle, 8}},
      {"U32", {Kind::unsigned_int, kLittle, 4}}, {"U16", {Kind::unsigned_int, kLittle, 2}},
      {"U8", {Kind::unsigned_int, kLittle, 1}},  {"BOOL", {Kind::unsigned_int, kLittle, 1}},
      {"BF16", {Kind::opaque, kLittle, 2}},      {"C64", {Kind::opaque, kLittle, 8}},
  };
  const auto* row = std::ranges::find(kTypes, dtype, &Row::dtype);
  return row == std::end(kTypes) ? kBytes : row->type;
}

// Where a tensor's type is not known, or takes less than a byte, its bytes are what there is to say about its shape.
Variable place(const Tensor& tensor, uint64_t data) {
  Variable variable{.path = "/", .type = type_of(tensor.dtype), .shape = tensor.shape, .block = {}, .extents = {}};
  variable.path += tensor.name;
  if (tensor.range.size() != 2 || tensor.range[0] >= tensor.range[1]) return variable;
  const uint64_t bytes = tensor.range[1] - tensor.range[0];
  if (variable.type == kBytes && element_count(variable.shape) != bytes) variable.shape = {bytes};
  variable.extents = {{.offset = data + tensor.range[0], .length = bytes}};
  return variable;
}

uint64_t header_length(std::span<const std::byte> head) { return load_le<uint64_t>(head.data()); }

}  // namespace

Result<bool> SafetensorsReader::matches(std::span<const std::byte> head, const ByteSource& source) const {
  if (head.size() < kLengthBytes + 2 || head[kLengthBytes] != std::byte{'{'}) return false;
  const uint64_t length = header_length(head);
  return length >= 2 && length <= kMaxHeader && length <= source.size() - kLengthBytes;
}

Result<Layout> SafetensorsReader::read(const ByteSource& source) const {
  const auto corrupt = [&](const char* what) { return fail(ErrorKind::corrupt, what, source.name()); };
  Bytes buffer(std::min<uint64_t>(source.size(), kLengthBytes + 2));
  FOREBAY_CHECK(source.read_at(0, buffer));
  FOREBAY_TRY(const bool is_safetensors, matches(buffer, source));
  if (!is_safetensors) return corrupt("safetensors: no header");
  const uint64_t length = header_length(buffer);
  buffer.resize(length);
  FOREBAY_CHECK(source.read_at(kLengthBytes, buffer));
  const auto tensors = parse_safetensors(as_text(buffer));
  if (!tensors) return corrupt("safetensors: the header is damaged");
  Layout layout{.format = "safetensors", .variables = {}};
  for (const Tensor& tensor : *tensors) layout.variables.push_back(place(tensor, kLengthBytes + length));
  return layout;
}

}  // namespace forebay::format
