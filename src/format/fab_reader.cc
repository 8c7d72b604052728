#include "format/fab_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/bytes.h"
#include "format/window.h"

namespace forebay::format {
namespace {

constexpr std::string_view kStart = "FAB ((";
constexpr size_t kMostHeader = 1024;  // bytes

struct Fab {
  DataType type;
  Shape shape;  // of a component
  uint64_t components = 0;
  uint64_t header_bytes = 0;
};

// All numbers of the text, in order; nothing if one is too large.
std::optional<std::vector<int64_t>> numbers_of(std::string_view text) {
  std::vector<int64_t> numbers;
  const auto begins = [](char c) { return (c >= '0' && c <= '9') || c == '-'; };
  for (size_t at = 0; at < text.size();) {
    if (!begins(text[at])) {
      ++at;
      continue;
    }
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    at = static_cast<size_t>(end - text.data());
    numbers.push_back(number);
  }
  return numbers;
}

// How a real number is stored: (8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)). The second list is the order of
// its bytes. `rest` is what follows.
std::optional<DataType> type_of(std::span<const int64_t> numbers, std::span<const int64_t>& rest) {
  constexpr size_t kFormat = 8;
  if (numbers.size() < kFormat + 2 || numbers[0] != kFormat) return std::nullopt;
  const int64_t bytes = numbers[kFormat + 1];
  if ((bytes != 4 && bytes != 8) || numbers[1] != 8 * bytes) return std::nullopt;
  const auto size = static_cast<size_t>(bytes);
  numbers = numbers.subspan(kFormat + 2);
  if (numbers.size() < size) return std::nullopt;
  bool is_little = true, is_big = true;
  for (size_t i = 0; i < size; ++i) {
    is_big = is_big && numbers[i] == static_cast<int64_t>(i + 1);
    is_little = is_little && numbers[i] == static_cast<int64_t>(size - i);
  }
  if (!is_little && !is_big) return std::nullopt;
  rest = numbers.subspan(size);
  return DataType{Kind::floating, is_little ? ByteOrder::little : ByteOrder::big, static_cast<uint8_t>(bytes)};
}

// FAB (real)(((lowest) (highest) (kind)) components, and a line's end.
std::optional<Fab> parse_header(std::string_view text) {
  constexpr int64_t kMostCells = int64_t{1} << 40, kMostComponents = 1 << 16;
  const size_t end = text.find('\n');
  if (!text.starts_with(kStart) || end == std::string_view::npos) return std::nullopt;
  const auto numbers = numbers_of(text.substr(0, end));
  if (!numbers) return std::nullopt;
  std::span<const int64_t> box;
  const auto type = type_of(*numbers, box);
  if (!type || box.size() < 4 || box.size() > 10 || box.size() % 3 != 1) return std::nullopt;
  const size_t dims = box.size() / 3;
  Fab fab{.type = *type, .shape = {}, .header_bytes = end + 1};
  int64_t cells = 1;
  for (size_t i = dims; i-- > 0;) {
    if (box[i] < -kMostCells || box[dims + i] > kMostCells || box[dims + i] < box[i]) return std::nullopt;
    const int64_t length = box[dims + i] - box[i] + 1;
    if (length > kMostCells / cells) return std::nullopt;
    cells *= length;
    fab.shape.push_back(static_cast<uint64_t>(length));
  }
  if (box.back() < 1 || box.back() > kMostComponents) return std::nullopt;
  fab.components = static_cast<uint64_t>(box.back());
  return fab;
}

}  // namespace

Result<bool> FabReader::matches(std::span<const std::byte> head, const ByteSource&) const {
  return parse_header(as_text(head.first(std::min(head.size(), kMostHeader)))).has_value();
}

Result<Layout> FabReader::read(const ByteSource& source) const {
  Window window(source);
  Layout layout{.format = "fab", .variables = {}};
  uint64_t at = 0;
  for (uint64_t number = 0;; ++number) {
    FOREBAY_TRY(const auto bytes, window.at(at, kMostHeader));
    const auto fab = parse_header(as_text(bytes));
    if (!fab) break;
    const uint64_t length = element_count(fab->shape) * fab->type.size;
    at += fab->header_bytes;
    if (length * fab->components > source.size() - at) break;
    if (layout.variables.size() + fab->components > kMaxVariablesPerFile)
      return fail(ErrorKind::limit, "fab: there are too many components", source.name());
    for (uint64_t i = 0; i < fab->components; ++i, at += length)
      layout.variables.push_back({.path = fmt::format("/fab_{}/component_{}", number, i),
                                  .type = fab->type,
                                  .shape = fab->shape,
                                  .block = {},
                                  .extents = {{.offset = at, .length = length}}});
  }
  if (layout.variables.empty()) return fail(ErrorKind::corrupt, "fab: there is no whole box", source.name());
  return layout;
}

}  // namespace forebay::format
