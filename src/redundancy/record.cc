// A record is "forebay-encoding VERSION\n", the fields in the order of the structures, and 8 bytes of hash64() of all
// before them, little-endian. What a member tells of itself is the same with "forebay-member".
#include "redundancy/record.h"

#include <charconv>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "redundancy/record_fields.h"

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

std::string sealed_fields(std::string_view tag, FieldWriter& fields) {
  std::string text = fmt::format("{} {}\n", tag, kVersion);
  text += fields.taken();
  FieldWriter seal;
  seal.fixed(hash64(as_bytes(text)));
  return text + seal.taken();
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

void put_file(FieldWriter& to, const RecordedFile& file) {
  to.text(file.name);
  to.number(file.kind);
  to.number(file.size);
  to.number(file.mode);
  to.signed_number(file.mtime_s);
  to.number(file.mtime_ns);
  to.signed_number(file.rank);
  to.text(file.link_target);
}

RecordedFile take_file(FieldReader& from) {
  RecordedFile file;
  file.name = from.text();
  file.kind = static_cast<uint8_t>(from.number(UINT8_MAX));
  file.size = from.number();
  file.mode = static_cast<uint32_t>(from.number(kMost32));
  file.mtime_s = from.signed_number();
  file.mtime_ns = static_cast<uint32_t>(from.number(kMost32));
  file.rank = from.signed_number();
  file.link_target = from.text();
  return file;
}

void put_member(FieldWriter& to, const MemberRecord& member) {
  to.text(member.host);
  to.text(member.node);
  to.number(member.ranks.size());
  for (const uint32_t rank : member.ranks) to.number(rank);
  to.number(member.files.size());
  for (const RecordedFile& file : member.files) put_file(to, file);
  to.number(member.markers.size());
  for (const auto& [rank, bytes] : member.markers) {
    to.number(rank);
    to.text(bytes);
  }
  for (const auto* sums : {&member.data_sums, &member.parity_sums}) {
    to.number(sums->size());
    for (const uint64_t sum : *sums) to.fixed(sum);
  }
}

MemberRecord take_member(FieldReader& from) {
  MemberRecord member;
  member.host = from.text();
  member.node = from.text();
  for (size_t left = from.count(1); left > 0 && from.ok(); --left)
    member.ranks.push_back(static_cast<uint32_t>(from.number(kMost32)));
  for (size_t left = from.count(kLeastFile); left > 0 && from.ok(); --left) member.files.push_back(take_file(from));
  for (size_t left = from.count(kLeastMarker); left > 0 && from.ok(); --left) {
    const auto rank = static_cast<uint32_t>(from.number(kMost32));
    member.markers.emplace_back(rank, from.text());
  }
  for (auto* sums : {&member.data_sums, &member.parity_sums})
    for (size_t left = from.count(kSumBytes); left > 0 && from.ok(); --left) sums->push_back(from.fixed());
  return member;
}

}  // namespace

std::string encode_member(const MemberRecord& member) {
  FieldWriter fields;
  put_member(fields, member);
  return sealed_fields(kMemberTag, fields);
}

std::string encode_record(const Record& record) {
  FieldWriter fields;
  fields.number(record.id);
  fields.number(record.write);
  fields.text(record.set);
  fields.number(record.step ? 1 : 0);
  if (record.step) fields.signed_number(*record.step);
  fields.number(record.ranks);
  fields.number(static_cast<uint8_t>(record.scheme));
  fields.number(record.group);
  fields.number(record.groups);
  fields.number(record.position);
  fields.number(record.losses);
  fields.number(record.chunk);
  fields.number(record.members.size());
  for (const MemberRecord& member : record.members) put_member(fields, member);
  return sealed_fields(kRecordTag, fields);
}

Result<Record> decode_record(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const std::string_view fields, unsealed_fields(kRecordTag, text, path));
  FieldReader from(fields);
  Record record;
  record.id = from.number();
  record.write = from.number();
  record.set = from.text();
  if (from.number(1) == 1) record.step = from.signed_number();
  record.ranks = static_cast<uint32_t>(from.number(kMost32));
  record.scheme = static_cast<Scheme>(from.number(static_cast<uint64_t>(Scheme::rs)));
  record.group = static_cast<uint32_t>(from.number(kMost32));
  record.groups = static_cast<uint32_t>(from.number(kMost32));
  record.position = static_cast<uint32_t>(from.number(kMost32));
  record.losses = static_cast<uint32_t>(from.number(kMost32));
  record.chunk = from.number();
  for (size_t left = from.count(kLeastMember); left > 0 && from.ok(); --left)
    record.members.push_back(take_member(from));
  if (!from.at_end()) return damaged_record("its fields do not end where it ends", path);
  FOREBAY_CHECK(check_record(record, path));
  return record;
}

Result<MemberRecord> decode_member(std::string_view text, const std::string& from) {
  FOREBAY_TRY(const std::string_view fields, unsealed_fields(kMemberTag, text, from));
  FieldReader reader(fields);
  MemberRecord member = take_member(reader);
  if (!reader.at_end()) return damaged_record("its fields do not end where it ends", from);
  FOREBAY_CHECK(check_names(member, from));
  return member;
}

}  // namespace forebay::redundancy
