#include "format/trr_reader.h"

#include <array>
#include <optional>

#include "base/cursor.h"
#include "format/window.h"

namespace forebay::format {
namespace {

constexpr size_t kHeaderBytes = 92;  // at most

// One frame, as XDR has it: all numbers are big-endian.
struct Header {
  // ir, e; box, virial, pressure; topology, symbols; x, v, f
  std::array<uint32_t, 10> sizes{};
  uint64_t atoms = 0;
  uint64_t real = 0;   // bytes of a number
  uint64_t bytes = 0;  // of the header
};

struct Field {
  const char* path;
  size_t size;  // index in Header::sizes
  bool is_of_atoms;
};
constexpr std::array<Field, 6> kVariables = {{{"/box", 2, false},
                                              {"/virial", 3, false},
                                              {"/pressure", 4, false},
                                              {"/x", 7, true},
                                              {"/v", 8, true},
                                              {"/f", 9, true}}};

// Bytes of a number: those of the box, or of the first array that there is.
uint64_t bytes_of_real(const Header& header) {
  for (const Field& field : kVariables) {
    const uint64_t numbers = field.is_of_atoms ? 3 * header.atoms : 9;
    const uint64_t size = header.sizes[field.size];
    if (size != 0 && numbers != 0) return size % numbers == 0 ? size / numbers : 0;
  }
  return 0;
}

std::optional<Header> parse_header(std::span<const std::byte> bytes) {
  constexpr uint32_t kFrame = 1993, kNameBytes = 12;
  Cursor in(bytes);
  if (in.be<uint32_t>() != kFrame || in.be<uint32_t>() != kNameBytes + 1 || in.be<uint32_t>() != kNameBytes) return {};
  if (!in.expect("GMX_trn_file")) return {};
  Header header;
  for (uint32_t& size : header.sizes) size = in.be<uint32_t>();
  header.atoms = in.be<uint32_t>();
  in.skip(8);  // step, nre
  header.real = bytes_of_real(header);
  if (header.real != 4 && header.real != 8) return {};
  in.skip(2 * header.real);  // t, lambda
  header.bytes = in.position();
  if (!in.ok()) return {};
  return header;
}

// Takes the field of one frame into its variable.
void add(Variable& variable, const Field& field, const Header& header, uint64_t offset) {
  const uint64_t rows = field.is_of_atoms ? header.atoms : 3;
  const DataType type{Kind::floating, ByteOrder::big, static_cast<uint8_t>(header.real)};
  if (header.sizes[field.size] != 3 * rows * header.real) return;
  if (variable.extents.empty()) {
    variable.path = field.path;
    variable.type = type;
    variable.shape = {0, rows, 3};
    variable.block = {1, rows, 3};
  }
  if (variable.type != type || variable.shape[1] != rows) return;
  ++variable.shape[0];
  variable.extents.push_back({.offset = offset, .length = header.sizes[field.size]});
}

}  // namespace

Result<bool> TrrReader::matches(std::span<const std::byte> head, const ByteSource&) const {
  return parse_header(head.first(std::min(head.size(), kHeaderBytes))).has_value();
}

Result<Layout> TrrReader::read(const ByteSource& source) const {
  Window window(source);
  std::array<Variable, kVariables.size()> variables;
  uint64_t at = 0;
  for (;;) {
    FOREBAY_TRY(const auto bytes, window.at(at, kHeaderBytes));
    const auto header = parse_header(bytes);
    if (!header) break;
    uint64_t end = at + header->bytes;
    for (const uint32_t size : header->sizes) end += size;
    if (end > source.size()) break;
    uint64_t offset = at + header->bytes;
    for (size_t i = 0, next = 0; i < header->sizes.size(); offset += header->sizes[i++])
      if (next < kVariables.size() && kVariables[next].size == i) {
        if (header->sizes[i] != 0) add(variables[next], kVariables[next], *header, offset);
        ++next;
      }
    at = end;
  }
  if (at == 0) return fail(ErrorKind::corrupt, "trr: there is no whole frame", source.name());
  Layout layout{.format = "trr", .variables = {}};
  for (Variable& variable : variables)
    if (!variable.extents.empty()) layout.variables.push_back(std::move(variable));
  return layout;
}

}  // namespace forebay::format
