#include "container/record.h"

#include <algorithm>
#include <memory>

#include "base/checksum.h"
#include "base/hash_stream.h"

namespace forebay::container {

namespace {

constexpr uint64_t kPiece = 1 << 20;

std::unexpected<Error> damaged(const ByteSource& source, uint64_t offset, const char* what) {
  return fail(ErrorKind::corrupt, what, source.name(), offset);
}

Result<Bytes> read_range(const ByteSource& source, uint64_t offset, uint64_t length) {
  Bytes bytes(length);
  FOREBAY_CHECK(source.read_at(offset, bytes));
  return bytes;
}

// hash64 of a range that need not fit in memory.
Result<uint64_t> hash_range(const ByteSource& source, uint64_t offset, uint64_t length) {
  HashStream hash;
  Bytes piece(std::min(kPiece, length));
  while (length > 0) {
    const auto part = std::span(piece).first(std::min(kPiece, length));
    FOREBAY_CHECK(source.read_at(offset, part));
    hash.add(part);
    offset += part.size();
    length -= part.size();
  }
  return hash.value();
}

}  // namespace

std::unexpected<Error> at(const ByteSource& source, uint64_t offset, Error error) {
  if (error.path.empty()) error.path = source.name();
  if (!error.offset) error.offset = offset;
  return std::unexpected(std::move(error));
}

Result<FoundRecord> find_record(const ByteSource& source, uint64_t offset, uint64_t limit) {
  if (offset > limit || limit - offset < kRecordHeaderBytes)
    return damaged(source, offset, "there is no room for a record");
  std::array<std::byte, kRecordHeaderBytes> bytes;
  FOREBAY_CHECK(source.read_at(offset, bytes));
  const auto header = parse_record_header(bytes);
  if (!header) return at(source, offset, header.error());
  if (header->record_bytes() > limit - offset)
    return damaged(source, offset, "a record claims more bytes than there are");
  return FoundRecord{offset, *header, header_hash(bytes)};
}

Result<FoundRecord> find_record(const ByteSource& source, const RecordPlace& place, const char* differs) {
  if (place.offset > source.size() || place.bytes > source.size() - place.offset)
    return damaged(source, place.offset, "a record lies behind the end of the file");
  FOREBAY_TRY(const FoundRecord record, find_record(source, place.offset, place.end()));
  if (record.header_hash == place.hash && record.header.record_bytes() == place.bytes) return record;
  return damaged(source, place.offset, differs);
}

Result<Trailer> read_trailer(const ByteSource& source, uint64_t offset) {
  if (offset > source.size() || source.size() - offset < kTrailerBytes)
    return damaged(source, offset, "there is no room for a trailer");
  std::array<std::byte, kTrailerBytes> bytes;
  FOREBAY_CHECK(source.read_at(offset, bytes));
  const auto trailer = parse_trailer(bytes);
  return trailer ? trailer : at(source, offset, trailer.error());
}

Result<Bytes> read_meta(const ByteSource& source, const FoundRecord& record) {
  FOREBAY_TRY(Bytes meta, read_range(source, record.meta_offset(), record.header.meta_bytes));
  if (hash64(meta) != record.header.meta_hash)
    return damaged(source, record.meta_offset(), "a record's description does not match its checksum");
  return meta;
}

Result<Bytes> read_payload(const ByteSource& source, const FoundRecord& record) {
  FOREBAY_TRY(Bytes payload, read_range(source, record.payload_offset(), record.header.payload_bytes));
  if (hash64(payload) != record.header.payload_hash)
    return damaged(source, record.payload_offset(), "a record's payload does not match its checksum");
  return payload;
}

Result<void> check_meta(const ByteSource& source, const FoundRecord& record) {
  FOREBAY_TRY(const uint64_t hash, hash_range(source, record.meta_offset(), record.header.meta_bytes));
  if (hash != record.header.meta_hash)
    return damaged(source, record.meta_offset(), "a record's description does not match its checksum");
  return {};
}

Result<void> check_payload(const ByteSource& source, const FoundRecord& record) {
  FOREBAY_TRY(const uint64_t hash, hash_range(source, record.payload_offset(), record.header.payload_bytes));
  if (hash != record.header.payload_hash)
    return damaged(source, record.payload_offset(), "a record's payload does not match its checksum");
  return {};
}

Result<Index> read_index(const ByteSource& source, const FoundRecord& record, uint64_t max_bytes) {
  if (record.header.type != RecordType::index || record.header.meta_bytes != kIndexMetaBytes)
    return damaged(source, record.offset, "this record is not an index");
  if (record.header.payload_bytes > max_bytes)
    return fail(ErrorKind::limit, "the index is too large", source.name(), record.offset, "raise --memory");
  FOREBAY_TRY(const Bytes meta_bytes, read_meta(source, record));
  FOREBAY_TRY(const Bytes payload, read_payload(source, record));
  const IndexMeta meta{load_le<uint64_t>(meta_bytes.data()), load_le<uint64_t>(meta_bytes.data() + 8)};
  auto index = decode_index(meta, payload, max_bytes, record.offset);
  if (!index) return at(source, record.payload_offset(), index.error());
  if (hash64(std::span(payload).first(meta.catalogue_bytes)) != record.header.id)
    return damaged(source, record.payload_offset(), "the index has another container's catalogue");
  return index;
}

}  // namespace forebay::container
