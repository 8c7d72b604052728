#include "container/walk.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "container/format.h"
#include "container/record.h"

namespace forebay::container {

namespace {

bool matches(const FoundRecord& record, const FrameEntry& entry) {
  return record.header.type == RecordType::frame && record.header.payload_bytes == entry.encoded_bytes &&
         record.header.payload_hash == entry.encoded_hash && record.header.meta_bytes <= kMaxFrameMetaBytes;
}

bool matches(const FrameMeta& meta, uint32_t number, const FrameEntry& entry, const Index& index) {
  return meta.number == number && meta.raw_bytes == entry.raw_bytes && meta.raw_hash == entry.raw_hash &&
         meta.references == entry.references && meta.chain == index.chains[entry.chain];
}

std::unexpected<Error> damaged(const ByteSource& source, const FoundRecord& record, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), source.name(), record.offset);
}

// A record that says nothing of the container.
Result<void> check_other(const ByteSource& source, const FoundRecord& record) {
  const RecordType type = record.header.type;
  if (type == RecordType::index) return damaged(source, record, "there is a second index");
  if (type == RecordType::groups) return damaged(source, record, "there is a list of process groups where none can be");
  if (type != RecordType::padding && (record.header.flags & kRequired) != 0)
    return fail(
        ErrorKind::unsupported,
        fmt::format("a record has the required type {}, which this build does not know", static_cast<uint16_t>(type)),
        source.name(), record.offset, "use a newer forebay");
  FOREBAY_CHECK(check_meta(source, record));
  return check_payload(source, record);
}

// Goes from record to record of a part, up to its index.
class Walk {
 public:
  Walk(const ByteSource& source, const Index& index, uint64_t id, uint64_t begin)
      : source_(source), index_(index), id_(id), begin_(begin) {
    for (uint32_t number = 0; number < index.frames.size(); ++number)
      if (!index.frames[number].is_lost()) expected_.push_back({index.frames[number].record_offset, number});
    std::ranges::sort(expected_);
  }

  Result<void> run(uint64_t end) {
    uint64_t offset = begin_;
    while (offset < end) {
      FOREBAY_TRY(const FoundRecord record, find_record(source_, offset, end));
      if (record.header.id != id_) return damaged(source_, record, "this record is another container's");
      FOREBAY_CHECK(check(record));
      offset = record.end();
    }
    if (offset == begin_) return fail(ErrorKind::corrupt, "the head is missing", source_.name(), offset);
    if (next_ != expected_.size())
      return fail(ErrorKind::corrupt, fmt::format("frame {} is not where the index says", expected_[next_].number),
                  source_.name(), expected_[next_].offset);
    return {};
  }

 private:
  struct Expected {
    uint64_t offset;
    uint32_t number;
    auto operator<=>(const Expected&) const = default;
  };

  Result<void> check(const FoundRecord& record) {
    const bool first = record.offset == begin_;
    if (first != (record.header.type == RecordType::head))
      return damaged(source_, record, "the head is not the first record");
    switch (record.header.type) {
      case RecordType::head:
        return check_head(record);
      case RecordType::frame:
        return check_frame(record);
      default:
        return check_other(source_, record);
    }
  }

  Result<void> check_head(const FoundRecord& record) const {
    if (record.header.payload_hash != id_ || record.header.meta_bytes != 0)
      return damaged(source_, record, "the head has not the catalogue that the index has");
    FOREBAY_CHECK(read_meta(source_, record));
    return check_payload(source_, record);
  }

  // The payload is left to read_frame().
  Result<void> check_frame(const FoundRecord& record) {
    if (next_ == expected_.size() || expected_[next_].offset != record.offset)
      return damaged(source_, record, "there is a frame that the index does not know");
    FOREBAY_CHECK(read_frame_meta(source_, record, index_, expected_[next_++].number));
    return {};
  }

  const ByteSource& source_;
  const Index& index_;
  const uint64_t id_, begin_;
  std::vector<Expected> expected_;
  size_t next_ = 0;
};

}  // namespace

Result<Bytes> read_frame_meta(const ByteSource& source, const FoundRecord& record, const Index& index,
                              uint32_t number) {
  const FrameEntry& entry = index.frames[number];
  const auto differs = [&] {
    return fail(ErrorKind::corrupt, "the record is not the one that the index describes", source.name(), record.offset);
  };
  if (!matches(record, entry)) return differs();
  FOREBAY_TRY(Bytes bytes, read_meta(source, record));
  const auto meta = parse_frame_meta(bytes);
  if (!meta) return at(source, record.meta_offset(), meta.error());
  if (!matches(*meta, number, entry, index)) return differs();
  return bytes;
}

Result<void> walk_part(const ByteSource& source, const Index& index, uint64_t id, uint64_t begin, uint64_t end) {
  return Walk(source, index, id, begin).run(end);
}

}  // namespace forebay::container
