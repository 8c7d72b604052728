#include "format/netcdf_reader.h"

#include <algorithm>

#include "format/attribute_list.h"
#include "format/meaning.h"
#include "format/netcdf_header.h"

namespace forebay::format {
namespace {

// The header's length is stated nowhere, so ever longer starts of the file are parsed until one has it all.
Result<NetcdfHeader> read_header(const ByteSource& source, NetcdfAttributes wanted) {
  constexpr uint64_t kFirst = 16 << 10;
  const uint64_t last = wanted == NetcdfAttributes::all ? 32 << 20 : 256 << 20;
  Bytes bytes;
  for (uint64_t length = std::min(kFirst, source.size());; length = std::min({4 * length, last, source.size()})) {
    bytes.resize(length);
    FOREBAY_CHECK(source.read_at(0, bytes));
    Cursor cursor(bytes);
    if (auto header = parse_netcdf(cursor, wanted)) return std::move(*header);
    if (cursor.ok() || length == source.size())
      return fail(ErrorKind::corrupt, "netCDF: the header is damaged", source.name(), cursor.position());
    if (length == last) return fail(ErrorKind::limit, "netCDF: the header is too large", source.name());
  }
}

uint64_t pad(uint64_t bytes) { return bytes > UINT64_MAX - 3 ? UINT64_MAX : (bytes + 3) / 4 * 4; }

uint64_t bytes_of(const NetcdfVariable& variable) {
  uint64_t bytes = element_count(variable.shape);
  return __builtin_mul_overflow(bytes, uint64_t{variable.type.size}, &bytes) ? UINT64_MAX : bytes;
}

// How the records lie: record after record, each holding a slab of every record variable, padded to four bytes; the
// slabs of a lone record variable are not padded.
struct Records {
  uint64_t count = 0, stride = 0, variables = 0;
};

Records measure_records(const NetcdfHeader& header, uint64_t file_size) {
  Records records{.count = header.records};
  uint64_t begin = UINT64_MAX, lone = 0;
  for (const NetcdfVariable& variable : header.variables) {
    if (!variable.is_record) continue;
    ++records.variables;
    lone = bytes_of(variable);
    begin = std::min(begin, variable.begin);
    if (__builtin_add_overflow(records.stride, pad(lone), &records.stride)) records.stride = UINT64_MAX;
  }
  if (records.variables == 1) records.stride = lone;
  const uint64_t there = records.stride == 0 || begin > file_size ? 0 : (file_size - begin) / records.stride;
  if (header.streaming) records.count = there;
  return records;
}

// One extent per record, or a single one where the records touch.
Result<Variable> place_records(const NetcdfVariable& found, const Records& records, const ByteSource& source) {
  const uint64_t bytes = bytes_of(found);
  Variable variable{.path = "/", .type = found.type, .shape = found.shape, .block = {}, .extents = {}};
  variable.path += found.name;
  variable.shape.insert(variable.shape.begin(), records.count);
  if (bytes == 0 || records.count == 0) return variable;
  uint64_t last = 0;
  if (__builtin_mul_overflow(records.count - 1, records.stride, &last) || last > source.size() ||
      found.begin > source.size() - last || bytes > source.size() - last - found.begin)
    return fail(ErrorKind::corrupt, "netCDF: the file is shorter than its records", source.name());
  if (bytes == records.stride) {
    variable.extents = {{.offset = found.begin, .length = records.count * bytes}};
    return variable;
  }
  variable.block = found.shape;
  variable.block.insert(variable.block.begin(), 1);
  variable.extents.reserve(records.count);
  for (uint64_t i = 0; i < records.count; ++i)
    variable.extents.push_back({.offset = found.begin + i * records.stride, .length = bytes});
  return variable;
}

void list_attributes(std::vector<NetcdfAttribute> found, const std::string& object, AttributeList& list) {
  for (NetcdfAttribute& each : found) {
    FileAttribute attribute{.object = object,
                            .name = std::move(each.name),
                            .type = kBytes,
                            .is_text = each.is_text,
                            .shape = each.count == 1 || each.is_text ? Shape() : Shape{each.count},
                            .value = {}};
    if (each.is_text) {
      append_text(as_text(each.value), attribute.value);
    } else {
      attribute.value = std::move(each.value);
      attribute.type = make_native(each.type, attribute.value);
    }
    list.add(std::move(attribute));
  }
}

// Takes its attributes.
std::string meaning_of_variable(NetcdfVariable& variable) {
  AttributeList list{AttributeLimits{}};
  list_attributes(std::move(variable.attributes), "", list);
  return meaning_text(list.take(), "", variable.type, true);
}

}  // namespace

Result<FileAttributes> read_netcdf_attributes(const ByteSource& source, const AttributeLimits& limits) {
  FOREBAY_TRY(NetcdfHeader header, read_header(source, NetcdfAttributes::all));
  AttributeList list(limits);
  list_attributes(std::move(header.attributes), "/", list);
  for (NetcdfVariable& variable : header.variables) {
    list_attributes(std::move(variable.attributes), "/" + variable.name, list);
    list.set_dimensions("/" + variable.name, std::move(variable.dimensions));
  }
  return list.take();
}

Result<bool> NetcdfReader::matches(std::span<const std::byte> head, const ByteSource&) const {
  const std::string_view text = as_text(head);
  return text.size() >= 4 && text.starts_with("CDF") && (text[3] == 1 || text[3] == 2 || text[3] == 5);
}

Result<Layout> NetcdfReader::read(const ByteSource& source) const {
  FOREBAY_TRY(NetcdfHeader header, read_header(source, NetcdfAttributes::of_meaning));
  const Records records = measure_records(header, source.size());
  if (records.variables > 0 && records.count > kMaxExtentsPerFile / records.variables && records.variables > 1)
    return fail(ErrorKind::limit, "netCDF: too many records", source.name());
  Layout layout{.format = "netcdf", .variables = {}};
  for (NetcdfVariable& found : header.variables) {
    std::string meaning = meaning_of_variable(found);
    if (found.is_record) {
      FOREBAY_TRY(Variable variable, place_records(found, records, source));
      variable.meaning = std::move(meaning);
      layout.variables.push_back(std::move(variable));
    } else if (const uint64_t bytes = bytes_of(found); bytes > 0) {
      Variable variable{.path = "/", .type = found.type, .shape = found.shape, .block = {}, .extents = {}};
      variable.path += found.name;
      variable.extents = {{.offset = found.begin, .length = bytes}};
      variable.meaning = std::move(meaning);
      layout.variables.push_back(std::move(variable));
    }
  }
  return layout;
}

}  // namespace forebay::format
