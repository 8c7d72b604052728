#include "bp/index.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bp/cursor.h"
#include "bp/types.h"

namespace forebay::bp {
namespace {

constexpr uint64_t kLeastEntryBytes = 14;  // a count, a length, and where the block lies
constexpr uint64_t kFooterBytes = 28, kVersionBytes = 28;

std::unexpected<Error> bad(const ByteSource& source, const Cursor& at, const std::string& what) {
  return fail(ErrorKind::corrupt, "the index of the BP file is damaged: " + what, source.name(), at.offset());
}

bool in_other_order(const Cursor& cursor) { return cursor.big_endian() != (std::endian::native == std::endian::big); }

// Numbers that a swap does not split: those of a complex number are two.
uint64_t number_bytes(uint8_t type) { return type == kComplex ? 4 : type == kDoubleComplex ? 8 : element_bytes(type); }

std::vector<Dimension> read_dimensions(Cursor& cursor) {
  const auto count = cursor.get<uint8_t>();
  cursor.get<uint16_t>();
  std::vector<Dimension> dimensions;
  for (unsigned i = 0; i < count && cursor.ok(); ++i) {
    Dimension dimension;
    dimension.local = cursor.get<uint64_t>();
    dimension.global = cursor.get<uint64_t>();
    dimension.offset = cursor.get<uint64_t>();
    dimensions.push_back(dimension);
  }
  return dimensions;
}

// False if such an entry has no value.
bool read_value(Cursor& cursor, Entry& entry) {
  entry.count = entry.dimensions.empty() ? 1 : entry.dimensions[0].local;
  Bytes value;
  if (entry.type == kString || entry.type == kStrings) {
    if (entry.type == kString) entry.count = 1;
    if (entry.count > cursor.remaining()) return false;
    for (uint64_t i = 0; i < entry.count && cursor.ok(); ++i) {
      const auto text = cursor.bytes(cursor.get<uint16_t>());
      value.insert(value.end(), text.begin(), text.end());
      if (entry.type == kStrings) value.push_back(std::byte{0});
    }
  } else {
    const uint64_t element = element_bytes(entry.type);
    if (element == 0 || entry.count > cursor.remaining() / element) return false;
    const auto bytes = cursor.bytes(entry.count * element);
    value.assign(bytes.begin(), bytes.end());
    if (in_other_order(cursor)) swap_elements(entry.type, value);
  }
  entry.value = std::move(value);
  return true;
}

double as_double(uint8_t type, std::span<const std::byte> bytes, bool is_other) {
  std::array<std::byte, 8> number{};
  if (bytes.size() > number.size() || bytes.empty()) return 0;
  std::ranges::copy(bytes, number.begin());
  if (is_other) std::reverse(number.begin(), number.begin() + static_cast<std::ptrdiff_t>(bytes.size()));
  double value = 0;
  with_number(type, [&]<class T>() {
    T own;
    std::memcpy(&own, number.data(), sizeof own);
    value = static_cast<double>(own);
  });
  return value;
}

void read_statistics(Cursor& cursor, uint32_t bitmap, Entry& entry) {
  const bool is_complex = entry.type == kComplex || entry.type == kDoubleComplex;
  const uint64_t wide = entry.type == kDoubleComplex ? 16 : 8;
  const uint64_t bound = is_complex ? wide : element_bytes(entry.type);
  Statistics statistics;
  bool is_finite = true;
  for (int list = 0; list < (is_complex ? 3 : 1) && cursor.ok(); ++list) {
    const auto has = [&](unsigned bit) { return (bitmap >> bit & 1) != 0; };
    if (has(0)) statistics.min = as_double(entry.type, cursor.bytes(bound), in_other_order(cursor));
    if (has(1)) statistics.max = as_double(entry.type, cursor.bytes(bound), in_other_order(cursor));
    if (has(2)) statistics.count = cursor.get<uint32_t>();
    for (const unsigned bit : {3u, 4u})
      if (has(bit) && is_complex)
        cursor.bytes(wide);
      else if (has(bit))
        (bit == 3 ? statistics.sum : statistics.sum_of_squares) = cursor.float64();
    if (has(5)) {
      const uint64_t breaks = cursor.get<uint32_t>();
      cursor.bytes(2 * 8 + (breaks + 1) * 4 + breaks * 8);
    }
    if (has(6)) is_finite = cursor.get<uint8_t>() == 1;
  }
  constexpr uint32_t kNeeded = 0x1F;
  if (!is_complex && entry.type != kLongDouble && is_finite && (bitmap & kNeeded) == kNeeded)
    entry.statistics = statistics;
}

uint64_t first_local(const std::vector<Dimension>& dimensions) { return dimensions.empty() ? 0 : dimensions[0].local; }

// Those of a block that went through a transform are of its stored bytes; the transform has its own.
void read_stored_dimensions(Cursor& cursor, Entry& entry) {
  std::vector<Dimension> dimensions = read_dimensions(cursor);
  if (entry.transform.empty())
    entry.dimensions = std::move(dimensions);
  else
    entry.stored_bytes = first_local(dimensions);
}

void read_transform(Cursor& cursor, Entry& entry) {
  entry.stored_bytes = first_local(entry.dimensions);
  entry.transform = std::string(as_text(cursor.bytes(cursor.get<uint8_t>())));
  entry.type = cursor.get<uint8_t>();
  entry.dimensions = read_dimensions(cursor);
  const auto metadata = cursor.bytes(cursor.get<uint16_t>());
  entry.transform_metadata.assign(metadata.begin(), metadata.end());
}

// One set of characteristics.
Result<Entry> read_entry(const ByteSource& source, Cursor& outer, uint8_t type) {
  const auto count = outer.get<uint8_t>();
  Cursor cursor = outer.part(outer.get<uint32_t>());
  Entry entry;
  entry.type = type;
  uint32_t bitmap = 0;
  bool has_offset = false;
  for (unsigned i = 0; i < count && cursor.ok(); ++i) {
    const Cursor begin = cursor;
    switch (const auto what = cursor.get<uint8_t>()) {
      case 0:
        if (!read_value(cursor, entry)) return bad(source, begin, "a value of an impossible type or size");
        break;
      case 1:
      case 2:  // bounds, in files of ADIOS 1.0 and 1.1
        cursor.bytes(element_bytes(entry.type));
        break;
      case 3:
        entry.offset = cursor.get<uint64_t>();
        has_offset = true;
        break;
      case 4:
        read_stored_dimensions(cursor, entry);
        break;
      case 5:
        entry.reference = cursor.get<uint32_t>();
        break;
      case 6:
        entry.payload = cursor.get<uint64_t>();
        break;
      case 7:
        entry.file = cursor.get<uint32_t>();
        break;
      case 8:
        entry.time = cursor.get<uint32_t>();
        break;
      case 9:
        bitmap = cursor.get<uint32_t>();
        break;
      case 10:
        if (bitmap != 0) read_statistics(cursor, bitmap, entry);
        break;
      case 11:
        read_transform(cursor, entry);
        break;
      default:
        return bad(source, begin, fmt::format("a characteristic of the unknown kind {}", what));
    }
  }
  if (!cursor.ok() || cursor.remaining() != 0 || !has_offset)
    return bad(source, cursor,
               "characteristics that have another length than they say, or do not say where their block lies");
  return entry;
}

Result<std::vector<ProcessGroup>> read_groups(const ByteSource& source, Cursor cursor) {
  const auto count = cursor.get<uint64_t>();
  cursor.get<uint64_t>();
  std::vector<ProcessGroup> groups;
  for (uint64_t i = 0; i < count; ++i) {
    Cursor entry = cursor.part(cursor.get<uint16_t>());
    ProcessGroup group;
    group.group = entry.short_text();
    group.fortran_order = entry.flag();
    group.rank = entry.get<uint32_t>();
    group.time_name = entry.short_text();
    group.time = entry.get<uint32_t>();
    group.offset = entry.get<uint64_t>();
    if (!entry.ok()) return bad(source, entry, fmt::format("process group {} of {} is cut short", i, count));
    groups.push_back(std::move(group));
  }
  return groups;
}

Result<std::vector<Variable>> read_variables(const ByteSource& source, Cursor cursor) {
  const auto count = cursor.get<uint32_t>();
  cursor.get<uint64_t>();
  std::vector<Variable> variables;
  for (uint32_t i = 0; i < count; ++i) {
    Cursor entry = cursor.part(cursor.get<uint32_t>());
    Variable variable;
    variable.id = entry.get<uint32_t>();
    variable.group = entry.short_text();
    variable.name = entry.short_text();
    if (std::string path = entry.short_text(); !path.empty()) {
      path.erase(path.find_last_not_of('/') + 1);
      variable.name = path + '/' + variable.name;
    }
    variable.type = entry.get<uint8_t>();
    const auto entries = entry.get<uint64_t>();
    if (!entry.ok()) return bad(source, entry, fmt::format("variable or attribute {} of {} is cut short", i, count));
    static_assert(sizeof(Entry) <= kMemoryFactor * kLeastEntryBytes);
    variable.entries.reserve(std::min(entries, entry.remaining() / kLeastEntryBytes));
    for (uint64_t j = 0; j < entries; ++j) {
      FOREBAY_TRY(auto read, read_entry(source, entry, variable.type));
      variable.entries.push_back(std::move(read));
    }
    if (!variable.entries.empty()) variable.type = variable.entries.front().type;
    variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace

uint64_t element_bytes(uint8_t type) {
  switch (type) {
    case 0:
    case 50:
    case kString:
      return 1;
    case 1:
    case 51:
      return 2;
    case 2:
    case 5:
    case 52:
      return 4;
    case 4:
    case 6:
    case 54:
    case kComplex:
      return 8;
    case kLongDouble:
    case kDoubleComplex:
      return 16;
    default:
      return 0;
  }
}

void swap_elements(uint8_t type, std::span<std::byte> bytes) {
  const uint64_t number = number_bytes(type);
  if (number < 2) return;
  for (; bytes.size() >= number; bytes = bytes.subspan(number)) std::ranges::reverse(bytes.first(number));
}

std::string subfile_path(const std::string& path, uint32_t number) {
  return fmt::format("{}.dir/{}.{}", path, path.substr(path.find_last_of('/') + 1), number);
}

Result<std::optional<Footer>> read_footer(const ByteSource& source) {
  if (source.size() < kFooterBytes + kVersionBytes) return std::nullopt;
  std::array<std::byte, kFooterBytes> bytes{};
  const uint64_t end = source.size() - kFooterBytes;
  FOREBAY_CHECK(source.read_at(end, bytes));
  const auto word = load_be<uint32_t>(bytes.data() + 24);
  constexpr uint32_t kBigEndian = 0x80000000, kSubfiles = 0x100, kTime = 0x200, kVersion = 0xFF;
  if ((word & ~(kBigEndian | kSubfiles | kTime | kVersion)) != 0) return std::nullopt;
  Footer footer{.big_endian = (word & kBigEndian) != 0, .has_subfiles = (word & kSubfiles) != 0};
  Cursor cursor(bytes, end, footer.big_endian);
  footer.groups = cursor.get<uint64_t>();
  footer.variables = cursor.get<uint64_t>();
  footer.attributes = cursor.get<uint64_t>();
  if (footer.groups >= footer.variables || footer.variables >= footer.attributes || footer.attributes >= end)
    return std::nullopt;
  if ((word & kVersion) != 3) {
    std::array<std::byte, 8> text{};
    FOREBAY_CHECK(source.read_at(end - kVersionBytes, text));
    if (as_text(text) != "ADIOS-BP") return std::nullopt;
    return fail(ErrorKind::unsupported,
                fmt::format("is a BP file of version {}; version 3 can be read", word & kVersion), source.name(),
                end + 24);
  }
  return footer;
}

Result<Index> read_index(const ByteSource& source, uint64_t most_bytes) {
  FOREBAY_TRY(const auto footer, read_footer(source));
  if (!footer) return fail(ErrorKind::invalid_argument, "is no BP file of ADIOS 1.x", source.name());
  const uint64_t length = source.size() - kFooterBytes - footer->groups;
  if (length > most_bytes)
    return fail(ErrorKind::limit,
                fmt::format("its indices have {} bytes, and the memory allows {}", length, most_bytes), source.name(),
                footer->groups, "allow more with --memory");
  Bytes bytes(length);
  FOREBAY_CHECK(source.read_at(footer->groups, bytes));
  const auto between = [&](uint64_t begin, uint64_t end) {
    return Cursor(std::span(bytes).subspan(begin - footer->groups, end - begin), begin, footer->big_endian);
  };
  Index index{.footer = *footer, .groups = {}, .variables = {}, .attributes = {}};
  FOREBAY_TRY(index.groups, read_groups(source, between(footer->groups, footer->variables)));
  FOREBAY_TRY(index.variables, read_variables(source, between(footer->variables, footer->attributes)));
  FOREBAY_TRY(index.attributes, read_variables(source, between(footer->attributes, source.size() - kFooterBytes)));
  return index;
}

}  // namespace forebay::bp
