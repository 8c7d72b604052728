// A record is "forebay-encoding VERSION\n", the fields in the order of the structures, and 8 bytes of hash64() of all
// before them, little-endian. What a member tells of itself is the same with "forebay-member".
#include "redundancy/record.h"

#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/cursor.h"

namespace forebay::redundancy {
namespace {

constexpr unsigned kVersion = 1;
constexpr std::string_view kRecordTag = "forebay-encoding", kMemberTag = "forebay-member";
constexpr uint64_t kMost32 = UINT32_MAX;
// The fewest bytes that each of these takes.
constexpr size_t kLeastFile = 8, kLeastMarker = 2, kLeastMember = 7, kSumBytes = sizeof(uint64_t);

std::unexpected<Error> damaged_record(std::string what, const std::string& path) {
  return fail(ErrorKind::corrupt, std::move(what), path);
}

void put_fixed(Bytes& to, uint64_t value) {
  to.resize(to.size() + sizeof value);
  store_le(to.data() + to.size() - sizeof value, value);
}

std::string sealed_fields(std::string_view tag, const Bytes& fields) {
  std::string text = fmt::format("{} {}\n", tag, kVersion);
  text += as_text(fields);
  Bytes seal;
  put_fixed(seal, hash64(as_bytes(text)));
  return text.append(as_text(seal));
}

// The fields between head and seal.
Result<std::string_view> unsealed_fields(std::string_view tag, std::string_view text, const std::string& path) {
  const size_t line_end = text.substr(0, tag.size() + 16).find('\n');
  if (!text.starts_with(tag) || line_end == std::string_view::npos || line_end < tag.size() + 2 ||
      text[tag.size()] != ' ')
    return damaged_record(fmt::format("does not begin with '{} {}'", tag, kVersion), path);
  if (text.size() > kMaxRecordBytes) return damaged_record("is larger than any record", path);
  if (text.size() < line_end + 1 + kSumBytes) return damaged_record("ends too early", path);
  const std::string_view sealed = text.substr(0, text.size() - kSumBytes);
  const bool is_whole = load_le<uint64_t>(as_bytes(text).data() + sealed.size()) == hash64(as_bytes(sealed));
  if (!is_whole) return damaged_record("the content does not match its checksum", path);
  const std::string_view version = text.substr(tag.size() + 1, line_end - tag.size() - 1);
  if (version != fmt::format("{}", kVersion))
    return fail(ErrorKind::unsupported, fmt::format("has version {}, and this Forebay reads {}", version, kVersion),
                path, {}, "use the Forebay that wrote it");
  return sealed.substr(line_end + 1);
}

void put_file(Bytes& to, const RecordedFile& file) {
  put_text(to, file.name);
  put_varint(to, file.kind);
  put_varint(to, file.size);
  put_varint(to, file.mode);
  put_signed_varint(to, file.mtime_s);
  put_varint(to, file.mtime_ns);
  put_signed_varint(to, file.rank);
  put_text(to, file.link_target);
}

RecordedFile take_file(Cursor& from) {
  RecordedFile file;
  file.name = from.varint_text();
  file.kind = static_cast<uint8_t>(from.varint(UINT8_MAX));
  file.size = from.varint();
  file.mode = static_cast<uint32_t>(from.varint(kMost32));
  file.mtime_s = from.signed_varint();
  file.mtime_ns = static_cast<uint32_t>(from.varint(kMost32));
  file.rank = from.signed_varint();
  file.link_target = from.varint_text();
  return file;
}

void put_member(Bytes& to, const MemberRecord& member) {
  put_text(to, member.host);
  put_text(to, member.node);
  put_varint(to, member.ranks.size());
  for (const uint32_t rank : member.ranks) put_varint(to, rank);
  put_varint(to, member.files.size());
  for (const RecordedFile& file : member.files) put_file(to, file);
  put_varint(to, member.markers.size());
  for (const auto& [rank, bytes] : member.markers) {
    put_varint(to, rank);
    put_text(to, bytes);
  }
  for (const auto* sums : {&member.data_sums, &member.parity_sums}) {
    put_varint(to, sums->size());
    for (const uint64_t sum : *sums) put_fixed(to, sum);
  }
}

MemberRecord take_member(Cursor& from) {
  MemberRecord member;
  member.host = from.varint_text();
  member.node = from.varint_text();
  for (size_t left = from.count(1); left > 0 && from.ok(); --left)
    member.ranks.push_back(static_cast<uint32_t>(from.varint(kMost32)));
  for (size_t left = from.count(kLeastFile); left > 0 && from.ok(); --left) member.files.push_back(take_file(from));
  for (size_t left = from.count(kLeastMarker); left > 0 && from.ok(); --left) {
    const auto rank = static_cast<uint32_t>(from.varint(kMost32));
    member.markers.emplace_back(rank, std::string(from.varint_text()));
  }
  for (auto* sums : {&member.data_sums, &member.parity_sums})
    for (size_t left = from.count(kSumBytes); left > 0 && from.ok(); --left) sums->push_back(from.u64());
  return member;
}

}  // namespace

std::string encode_member(const MemberRecord& member) {
  Bytes fields;
  put_member(fields, member);
  return sealed_fields(kMemberTag, fields);
}

std::string encode_record(const Record& record) {
  Bytes fields;
  put_varint(fields, record.id);
  put_varint(fields, record.write);
  put_text(fields, record.set);
  put_varint(fields, record.step ? 1 : 0);
  if (record.step) put_signed_varint(fields, *record.step);
  put_varint(fields, record.ranks);
  put_varint(fields, static_cast<uint8_t>(record.scheme));
  put_varint(fields, record.group);
  put_varint(fields, record.groups);
  put_varint(fields, record.position);
  put_varint(fields, record.losses);
  put_varint(fields, record.chunk);
  put_varint(fields, record.members.size());
  for (const MemberRecord& member : record.members) put_member(fields, member);
  return sealed_fields(kRecordTag, fields);
}

Result<Record> decode_record(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const std::string_view fields, unsealed_fields(kRecordTag, text, path));
  Cursor from(as_bytes(fields));
  Record record;
  record.id = from.varint();
  record.write = from.varint();
  record.set = from.varint_text();
  if (from.varint(1) == 1) record.step = from.signed_varint();
  record.ranks = static_cast<uint32_t>(from.varint(kMost32));
  record.scheme = static_cast<Scheme>(from.varint(static_cast<uint64_t>(Scheme::rs)));
  record.group = static_cast<uint32_t>(from.varint(kMost32));
  record.groups = static_cast<uint32_t>(from.varint(kMost32));
  record.position = static_cast<uint32_t>(from.varint(kMost32));
  record.losses = static_cast<uint32_t>(from.varint(kMost32));
  record.chunk = from.varint();
  for (size_t left = from.count(kLeastMember); left > 0 && from.ok(); --left)
    record.members.push_back(take_member(from));
  if (!from.at_end()) return damaged_record("its fields do not end where it ends", path);
  FOREBAY_CHECK(check_record(record, path));
  return record;
}

Result<MemberRecord> decode_member(std::string_view text, const std::string& from) {
  FOREBAY_TRY(const std::string_view fields, unsealed_fields(kMemberTag, text, from));
  Cursor reader(as_bytes(fields));
  MemberRecord member = take_member(reader);
  if (!reader.at_end()) return damaged_record("its fields do not end where it ends", from);
  FOREBAY_CHECK(check_names(member, from));
  return member;
}

}  // namespace forebay::redundancy
