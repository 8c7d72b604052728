#include "bp/write.h"

#include <bit>
#include <cstring>

#include "bp/encoder.h"
#include "bp/types.h"

namespace forebay::bp {
namespace {

constexpr uint64_t kListHead = 12;  // a count and a length, which counts itself

// Calls use(text) for each string of a list of `count`, every one of which ends in 0.
template <class Use>
void for_each_string(uint64_t count, const Bytes& value, const Use& use) {
  std::string_view rest = as_text(value);
  for (uint64_t i = 0; i < count; ++i) {
    const size_t end = std::min(rest.find('\0'), rest.size());
    use(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

// Where something lies: the characteristics 3, 6, 7 and 8.
constexpr uint8_t kPlaceCount = 4;
void put_place(const Written& at, Encoder& to) {
  to.put<uint8_t>(3).put(at.offset).put<uint8_t>(6).put(at.payload);
  to.put<uint8_t>(7).put(kThisFile).put<uint8_t>(8).put(at.time);
}

// The entry of a variable or an attribute in a process group after its length.
void put_head(const VariableHead& head, Encoder& to) {
  const auto [path, name] = split_name(head.name);
  to.put(head.id).text(name).text(path);
}

}  // namespace

std::pair<std::string_view, std::string_view> split_name(std::string_view full) {
  const size_t slash = full.rfind('/');
  if (slash == std::string_view::npos) return {{}, full};
  return {full.substr(0, std::max<size_t>(slash, 1)), full.substr(slash + 1)};
}

void encode_dimensions(const std::vector<Dimension>& dimensions, Encoder& to) {
  constexpr size_t kEach = 3 * sizeof(uint64_t);
  to.put<uint8_t>(4).put(static_cast<uint8_t>(dimensions.size()));
  to.put(static_cast<uint16_t>(kEach * dimensions.size()));
  for (const Dimension& dimension : dimensions) to.put(dimension.local).put(dimension.global).put(dimension.offset);
}

Bytes encode_group_head(const ProcessGroup& group, uint64_t bytes, uint32_t variables, uint64_t variable_bytes) {
  Encoder to;
  to.put(bytes).flag(group.fortran_order).text(group.group).put<uint32_t>(0).text(group.time_name).put(group.time);
  constexpr uint8_t kMpi = 0;  // the method, which readers do not look at
  to.put<uint8_t>(1).put<uint16_t>(3).put(kMpi).text({});
  to.put(variables).put(kListHead + variable_bytes);
  return to.take();
}

Bytes encode_block_head(const VariableHead& head, const std::vector<Dimension>& dimensions, uint8_t count,
                        std::span<const std::byte> characteristics, uint64_t payload_bytes) {
  Encoder to;
  to.put<uint64_t>(0);
  put_head(head, to);
  constexpr size_t kNumber = 1 + sizeof(uint64_t);  // 'n' and a number
  to.put(head.type).flag(false).put(static_cast<uint8_t>(dimensions.size()));
  to.put(static_cast<uint16_t>(3 * kNumber * dimensions.size()));
  for (const Dimension& dimension : dimensions)
    for (const uint64_t number : {dimension.local, dimension.global, dimension.offset}) to.flag(false).put(number);
  to.put(count).put(static_cast<uint32_t>(characteristics.size())).raw(characteristics);
  to.replace<uint64_t>(0, to.size() + payload_bytes);
  return to.take();
}

AttributeBytes encode_attribute(const VariableHead& head, uint64_t count, const Bytes& value,
                                std::optional<uint32_t> reference) {
  Encoder to;
  to.put<uint32_t>(0);
  put_head(head, to);
  to.flag(reference.has_value());
  uint64_t value_at = to.size();
  if (reference) {
    to.put(*reference);
  } else {
    to.put(head.type).put(static_cast<uint32_t>(head.type == kStrings ? count : value.size()));
    value_at = to.size();
    if (head.type == kStrings)
      for_each_string(count, value, [&](std::string_view text) {
        to.put(static_cast<uint32_t>(text.size() + 1)).raw(as_bytes(text)).put<uint8_t>(0);
      });
    else
      to.raw(value);
  }
  to.replace(0, static_cast<uint32_t>(to.size() - sizeof(uint32_t)));
  return {to.take(), value_at};
}

Bytes encode_attributes_head(uint32_t attributes, uint64_t bytes) {
  Encoder to;
  return to.put(attributes).put(kListHead + bytes).take();
}

void IndexWriter::add_group(const ProcessGroup& group) {
  Encoder to;
  to.put<uint16_t>(0).text(group.group).flag(group.fortran_order).put(group.rank).text(group.time_name);
  to.put(group.time).put(group.offset);
  to.replace(0, static_cast<uint16_t>(to.size() - sizeof(uint16_t)));
  group_entries_.insert(group_entries_.end(), to.bytes().begin(), to.bytes().end());
  bytes_ += to.size();
  ++groups_;
}

void IndexWriter::add_array(const VariableHead& head, const Written& at, const std::vector<Dimension>& dimensions,
                            std::span<const std::byte> statistics) {
  Encoder to;
  put_place(at, to);
  encode_dimensions(dimensions, to);
  to.raw(statistics);
  add(variables_, head, kPlaceCount + 3, to.take());
}

void IndexWriter::add_value(const VariableHead& head, const Written& at, std::span<const std::byte> value) {
  Encoder to;
  put_place(at, to);
  to.put<uint8_t>(0);
  if (head.type == kString)
    to.text(as_text(value));
  else
    to.raw(value);
  add(variables_, head, kPlaceCount + 1, to.take());
}

void IndexWriter::add_attribute(const VariableHead& head, const Written& at, uint64_t count, const Bytes& value,
                                std::optional<uint32_t> reference) {
  Encoder to;
  put_place(at, to);
  uint8_t more = 1;
  if (reference) {
    to.put<uint8_t>(5).put(*reference);
  } else {
    if (head.type == kStrings || (head.type != kString && count != 1)) {
      encode_dimensions({{count, count, 0}}, to);
      ++more;
    }
    to.put<uint8_t>(0);
    if (head.type == kString)
      to.text(as_text(value));
    else if (head.type == kStrings)
      for_each_string(count, value, [&](std::string_view text) { to.text(text); });
    else
      to.raw(value);
  }
  add(attributes_, head, static_cast<uint8_t>(kPlaceCount + more), to.take());
}

void IndexWriter::add(Table& table, const VariableHead& head, uint8_t count, Bytes characteristics) {
  auto& [all, places] = table;
  const auto [place, is_new] = places.try_emplace({head.group, head.name}, all.size());
  if (is_new) all.push_back({.head = head, .sets = 0, .bytes = {}});
  Entries& entries = all[place->second];
  Encoder to;
  to.put(count).put(static_cast<uint32_t>(characteristics.size()));
  entries.bytes.insert(entries.bytes.end(), to.bytes().begin(), to.bytes().end());
  entries.bytes.insert(entries.bytes.end(), characteristics.begin(), characteristics.end());
  ++entries.sets;
  bytes_ += to.size() + characteristics.size() + (is_new ? head.name.size() + head.group.size() : 0);
}

// The length before an index counts its entries without their own lengths, as the original's does.
void IndexWriter::put(const Table& table, Encoder& to) {
  const auto& all = table.first;
  const size_t begin = to.size();
  to.put(static_cast<uint32_t>(all.size())).put<uint64_t>(0);
  uint64_t length = 0;
  for (const Entries& entries : all) {
    const size_t at = to.size();
    const auto [path, name] = split_name(entries.head.name);
    to.put<uint32_t>(0).put(entries.head.id).text(entries.head.group).text(name).text(path);
    to.put(entries.head.type).put(entries.sets).raw(entries.bytes);
    const auto bytes = static_cast<uint32_t>(to.size() - at - sizeof(uint32_t));
    to.replace(at, bytes);
    length += bytes;
  }
  to.replace(begin + sizeof(uint32_t), length);
}

Bytes IndexWriter::finish(uint64_t offset) const {
  constexpr std::string_view kVersion = "ADIOS-BP v1.13.1        ";
  static_assert(kVersion.size() == 24);
  Encoder to;
  to.put(groups_).put<uint64_t>(group_entries_.size() - sizeof(uint16_t) * groups_).raw(group_entries_);
  const uint64_t variables = offset + to.size();
  put(variables_, to);
  const uint64_t attributes = offset + to.size();
  put(attributes_, to);
  to.raw(as_bytes(kVersion)).put<uint8_t>(1).put<uint8_t>(13).put<uint8_t>(1).put<uint8_t>(0);
  to.put(offset).put(variables).put(attributes);
  constexpr uint32_t kWord = 0x203;  // version 3, with time indices; its first bit tells a big-endian machine
  const uint32_t word = kWord | (std::endian::native == std::endian::big ? 0x80000000u : 0);
  for (const int shift : {24, 16, 8, 0}) to.put(static_cast<uint8_t>(word >> shift));
  return to.take();
}

}  // namespace forebay::bp
