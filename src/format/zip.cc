#include "format/zip.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/layout.h"

namespace forebay::format {
namespace {

constexpr std::string_view kLocalHeader = "PK\3\4", kCentralHeader = "PK\1\2", kEnd = "PK\5\6", kEnd64 = "PK\6\6",
                           kLocator64 = "PK\6\7";
constexpr uint64_t kLocalBytes = 30, kEndBytes = 22, kEnd64Bytes = 56, kLocatorBytes = 20;

struct Directory {
  uint64_t offset = 0, size = 0;
};

std::unexpected<Error> corrupt(const ByteSource& source, const char* what) {
  return fail(ErrorKind::corrupt, std::string("zip: ") + what, source.name());
}

Result<Directory> read_end64(const ByteSource& source, uint64_t offset) {
  Bytes buffer(kEnd64Bytes);
  if (offset > source.size() || source.size() - offset < kEnd64Bytes)
    return corrupt(source, "a ZIP64 end outside the file");
  FOREBAY_CHECK(source.read_at(offset, buffer));
  Cursor cursor(buffer);
  if (!cursor.expect(kEnd64)) return corrupt(source, "no ZIP64 end where there should be one");
  cursor.skip(36);
  const uint64_t size = cursor.u64();
  return Directory{.offset = cursor.u64(), .size = size};
}

// The end record is the last thing in an archive but for a comment of up to 65535 bytes.
Result<Directory> find_directory(const ByteSource& source) {
  constexpr uint64_t kMaxTail = kLocatorBytes + kEndBytes + UINT16_MAX;
  Bytes tail(std::min(source.size(), kMaxTail));
  FOREBAY_CHECK(source.read_at(source.size() - tail.size(), tail));
  const size_t at = as_text(tail).rfind(kEnd);
  if (at == std::string_view::npos || tail.size() - at < kEndBytes) return corrupt(source, "no end record");
  Cursor cursor(std::span<const std::byte>(tail).subspan(at));
  cursor.skip(12);
  const uint32_t size = cursor.u32(), offset = cursor.u32();
  if (size != UINT32_MAX && offset != UINT32_MAX) return Directory{.offset = offset, .size = size};
  if (at < kLocatorBytes) return corrupt(source, "no ZIP64 locator");
  Cursor locator(std::span<const std::byte>(tail).subspan(at - kLocatorBytes));
  if (!locator.expect(kLocator64)) return corrupt(source, "no ZIP64 locator");
  locator.skip(4);
  return read_end64(source, locator.u64());
}

// Field 1 among the extra fields holds, in 64 bits, those of the sizes and the offset that are all ones in the entry.
void widen(Cursor extra, uint64_t& plain_size, uint64_t& stored_size, uint64_t& offset) {
  while (extra.remaining() >= 4) {
    const uint16_t id = extra.u16(), size = extra.u16();
    Cursor field(extra.bytes(size));
    if (id != 1) continue;
    for (uint64_t* value : {&plain_size, &stored_size, &offset})
      if (*value == UINT32_MAX) *value = field.u64();
  }
}

ZipMember read_entry(Cursor& cursor) {
  constexpr uint16_t kEncrypted = 1, kStored = 0;
  cursor.skip(4);
  const uint16_t flags = cursor.u16(), method = cursor.u16();
  cursor.skip(8);
  uint64_t stored_size = cursor.u32(), plain_size = cursor.u32();
  const uint16_t name_size = cursor.u16(), extra_size = cursor.u16(), comment_size = cursor.u16();
  cursor.skip(8);
  uint64_t offset = cursor.u32();
  const std::string_view name = cursor.text(name_size);
  widen(Cursor(cursor.bytes(extra_size)), plain_size, stored_size, offset);
  cursor.skip(comment_size);
  return {.name = std::string(name),
          .header = offset,
          .size = stored_size,
          .stored = (flags & kEncrypted) == 0 && method == kStored && stored_size == plain_size};
}

}  // namespace

std::string_view first_zip_member(std::span<const std::byte> head) {
  Cursor cursor(head);
  if (!cursor.expect(kLocalHeader)) return {};
  cursor.skip(22);
  const uint16_t name_size = cursor.u16();
  cursor.skip(2);
  return cursor.text(name_size);
}

Result<std::vector<ZipMember>> list_zip(const ByteSource& source) {
  constexpr uint64_t kMaxDirectory = 256 << 20;
  FOREBAY_TRY(const Directory directory, find_directory(source));
  if (directory.offset > source.size() || directory.size > source.size() - directory.offset)
    return corrupt(source, "a directory outside the file");
  if (directory.size > kMaxDirectory) return fail(ErrorKind::limit, "zip: the directory is too large", source.name());
  Bytes buffer(directory.size);
  FOREBAY_CHECK(source.read_at(directory.offset, buffer));
  std::vector<ZipMember> members;
  Cursor cursor(buffer);
  while (cursor.expect(kCentralHeader)) {
    if (members.size() >= kMaxVariablesPerFile) return fail(ErrorKind::limit, "zip: too many members", source.name());
    members.push_back(read_entry(cursor));
    if (!cursor.ok()) return corrupt(source, "a damaged directory");
  }
  return members;
}

Result<uint64_t> find_zip_data(const ByteSource& source, const ZipMember& member) {
  if (member.header > source.size() || source.size() - member.header < kLocalBytes)
    return corrupt(source, "a member outside the file");
  Bytes buffer(kLocalBytes);
  FOREBAY_CHECK(source.read_at(member.header, buffer));
  Cursor cursor(buffer);
  if (!cursor.expect(kLocalHeader)) return corrupt(source, "a damaged member");
  cursor.skip(22);
  const uint64_t name_size = cursor.u16(), extra_size = cursor.u16();
  const uint64_t data = member.header + kLocalBytes + name_size + extra_size;
  if (data > source.size() || member.size > source.size() - data) return corrupt(source, "a member outside the file");
  return data;
}

}  // namespace forebay::format
