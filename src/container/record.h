// Records as a source has them: read, and checked against their own checksums.
#pragma once

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/error.h"
#include "container/container.h"
#include "container/format.h"
#include "container/index_codec.h"

namespace forebay::container {

// A record's header as found at `offset`.
struct FoundRecord {
  uint64_t offset = 0;
  RecordHeader header;
  uint64_t header_hash = 0;

  uint64_t meta_offset() const { return offset + kRecordHeaderBytes; }
  uint64_t payload_offset() const { return meta_offset() + header.meta_bytes; }
  uint64_t end() const { return offset + header.record_bytes(); }
};

// corrupt if no record begins at `offset` or it does not end before `limit`, which is at most the source's size.
Result<FoundRecord> find_record(const ByteSource& source, uint64_t offset, uint64_t limit);

// The same at `place`, if the record there has this size and this hash; else corrupt, with `differs`.
Result<FoundRecord> find_record(const ByteSource& source, const RecordPlace& place, const char* differs);

// The trailer at `offset`, whatever it says. corrupt if there is none; unsupported.
Result<Trailer> read_trailer(const ByteSource& source, uint64_t offset);

// The meta and the payload, checked. corrupt if they do not match their checksums. They may claim any size that the
// source has room for, which the caller bounds.
Result<Bytes> read_meta(const ByteSource& source, const FoundRecord& record);
Result<Bytes> read_payload(const ByteSource& source, const FoundRecord& record);

// Checks the meta or the payload piece by piece, in little memory.
Result<void> check_meta(const ByteSource& source, const FoundRecord& record);
Result<void> check_payload(const ByteSource& source, const FoundRecord& record);

// The index in an index record. limit if it takes more than `max_bytes`. corrupt also if its
// catalogue is not the one that the container's id is the hash of.
Result<Index> read_index(const ByteSource& source, const FoundRecord& record, uint64_t max_bytes);

// `error`, with the source's name and `offset` where it has none.
std::unexpected<Error> at(const ByteSource& source, uint64_t offset, Error error);

}  // namespace forebay::container
