#include <algorithm>

#include <fmt/format.h>

#include "base/checksum.h"
#include "container/container.h"
#include "container/format.h"
#include "container/record.h"

namespace forebay::container {

namespace {

constexpr const char* kRepairHint = "run `forebay repair`: it rebuilds what the records allow";

// Damage of what open() reads is what repair is for.
std::unexpected<Error> repairable(Error error) {
  if (error.kind == ErrorKind::corrupt && error.hint.empty()) error.hint = kRepairHint;
  return std::unexpected(std::move(error));
}

Result<Trailer> read_trailer(const ByteSource& source) {
  constexpr uint64_t kSmallest = kFileHeaderBytes + 2 * kRecordHeaderBytes + kTrailerBytes;
  if (source.size() < kSmallest)
    return fail(ErrorKind::corrupt, fmt::format("{} bytes are too few for a container", source.size()), source.name());
  std::array<std::byte, kFileHeaderBytes> header;
  FOREBAY_CHECK(source.read_at(0, header));
  if (const auto checked = check_file_header(header); !checked) return at(source, 0, checked.error());
  const uint64_t offset = source.size() - kTrailerBytes;
  std::array<std::byte, kTrailerBytes> bytes;
  FOREBAY_CHECK(source.read_at(offset, bytes));
  const auto trailer = parse_trailer(bytes);
  if (!trailer) return at(source, offset, trailer.error());
  const bool adds_up = trailer->file_bytes == source.size() && trailer->index_offset < offset &&
                       trailer->index_bytes == offset - trailer->index_offset;
  if (!adds_up) return fail(ErrorKind::corrupt, "the trailer is that of a file of another size", source.name(), offset);
  return *trailer;
}

// Every frame lies between the file header and the index.
Result<void> check_frames(const ByteSource& source, const Index& index, uint64_t index_offset) {
  for (size_t number = 0; number < index.frames.size(); ++number) {
    const FrameEntry& frame = index.frames[number];
    const bool lost = frame.is_lost() && frame.encoded_bytes == 0;
    const bool inside = frame.record_offset >= kFileHeaderBytes + kRecordHeaderBytes &&
                        frame.record_offset < index_offset && frame.encoded_bytes < index_offset - frame.record_offset;
    if (!lost && !inside)
      return fail(ErrorKind::corrupt, fmt::format("index: frame {} lies outside of the file", number), source.name(),
                  index_offset);
  }
  return {};
}

bool matches(const FoundRecord& record, const FrameEntry& entry) {
  return record.header.type == RecordType::frame && record.header.payload_bytes == entry.encoded_bytes &&
         record.header.payload_hash == entry.encoded_hash && record.header.meta_bytes <= kMaxFrameMetaBytes;
}

bool matches(const FrameMeta& meta, uint32_t number, const FrameEntry& entry, const Index& index) {
  return meta.number == number && meta.raw_bytes == entry.raw_bytes && meta.raw_hash == entry.raw_hash &&
         meta.references == entry.references && meta.chain == index.chains[entry.chain];
}

// The meta of the record of frame `number`, all of which agrees with the index.
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

Result<FramePayload> read_frame_unnamed(const ByteSource& source, const Index& index, uint32_t number) {
  const FrameEntry& entry = index.frames[number];
  if (entry.is_lost())
    return fail(ErrorKind::corrupt, "the frame was lost before this container was repaired", source.name());
  FOREBAY_TRY(const FoundRecord record, find_record(source, entry.record_offset, source.size()));
  FOREBAY_TRY(const Bytes meta_bytes, read_frame_meta(source, record, index, number));
  FOREBAY_TRY(const FrameMeta meta, parse_frame_meta(meta_bytes));
  FOREBAY_TRY(Bytes payload, read_payload(source, record));
  return FramePayload{Bytes(meta.recipe.begin(), meta.recipe.end()), std::move(payload)};
}

}  // namespace

Result<FramePayload> read_frame(const ByteSource& source, const Index& index, uint32_t number) {
  if (number >= index.frames.size())
    return fail(ErrorKind::invalid_argument, fmt::format("there is no frame {}", number), source.name());
  auto frame = read_frame_unnamed(source, index, number);
  if (!frame) frame.error().what = fmt::format("frame {}: {}", number, frame.error().what);
  return frame;
}

Result<std::unique_ptr<Reader>> Reader::open(std::unique_ptr<ByteSource> source, uint64_t max_index_bytes) {
  std::unique_ptr<Reader> reader(new Reader);
  reader->source_ = std::move(source);
  const ByteSource& from = *reader->source_;
  const auto trailer = read_trailer(from);
  if (!trailer) return repairable(trailer.error());
  const auto record = find_record(from, trailer->index_offset, trailer->index_offset + trailer->index_bytes);
  if (!record) return repairable(record.error());
  if (record->header_hash != trailer->index_hash || record->header.record_bytes() != trailer->index_bytes ||
      record->header.container_id != trailer->container_id)
    return repairable({ErrorKind::corrupt,
                       "the index is not the one that the trailer describes",
                       from.name(),
                       trailer->index_offset,
                       {}});
  auto index = read_index(from, *record, max_index_bytes);
  if (!index) return repairable(index.error());
  if (const auto checked = check_frames(from, *index, record->offset); !checked) return repairable(checked.error());
  reader->index_ = std::move(*index);
  reader->container_id_ = trailer->container_id;
  reader->index_offset_ = trailer->index_offset;
  return reader;
}

uint64_t Reader::read_bytes(uint32_t number) const {
  return index_.frames[number].encoded_bytes + kMaxFrameMetaBytes + kRecordHeaderBytes;
}

namespace {

// Goes from record to record, up to the index.
class Walk {
 public:
  Walk(const ByteSource& source, const Index& index, uint64_t container_id)
      : source_(source), index_(index), container_id_(container_id) {
    for (uint32_t number = 0; number < index.frames.size(); ++number)
      if (!index.frames[number].is_lost()) expected_.push_back({index.frames[number].record_offset, number});
    std::ranges::sort(expected_);
  }

  Result<void> run(uint64_t index_offset) {
    uint64_t offset = kFileHeaderBytes;
    while (offset < index_offset) {
      FOREBAY_TRY(const FoundRecord record, find_record(source_, offset, index_offset));
      if (record.header.container_id != container_id_) return damaged(record, "this record is another container's");
      FOREBAY_CHECK(check(record));
      offset = record.end();
    }
    if (offset == kFileHeaderBytes) return fail(ErrorKind::corrupt, "the head is missing", source_.name(), offset);
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

  std::unexpected<Error> damaged(const FoundRecord& record, std::string what) const {
    return fail(ErrorKind::corrupt, std::move(what), source_.name(), record.offset);
  }

  Result<void> check(const FoundRecord& record) {
    const bool first = record.offset == kFileHeaderBytes;
    if (first != (record.header.type == RecordType::head)) return damaged(record, "the head is not the first record");
    switch (record.header.type) {
      case RecordType::head:
        return check_head(record);
      case RecordType::frame:
        return check_frame(record);
      default:
        return check_other(record);
    }
  }

  Result<void> check_head(const FoundRecord& record) const {
    if (record.header.payload_hash != container_id_ || record.header.meta_bytes != 0)
      return damaged(record, "the head has not the catalogue that the index has");
    FOREBAY_CHECK(read_meta(source_, record));
    return check_payload(source_, record);
  }

  // The payload is left to read_frame().
  Result<void> check_frame(const FoundRecord& record) {
    if (next_ == expected_.size() || expected_[next_].offset != record.offset)
      return damaged(record, "there is a frame that the index does not know");
    FOREBAY_CHECK(read_frame_meta(source_, record, index_, expected_[next_++].number));
    return {};
  }

  Result<void> check_other(const FoundRecord& record) const {
    if (record.header.type == RecordType::index) return damaged(record, "there is a second index");
    const bool known = record.header.type == RecordType::padding;
    if (!known && (record.header.flags & kRequired) != 0)
      return fail(ErrorKind::unsupported,
                  fmt::format("a record has the required type {}, which this build does not know",
                              static_cast<uint16_t>(record.header.type)),
                  source_.name(), record.offset, "use a newer forebay");
    FOREBAY_CHECK(read_meta(source_, record));
    return check_payload(source_, record);
  }

  const ByteSource& source_;
  const Index& index_;
  const uint64_t container_id_;
  std::vector<Expected> expected_;
  size_t next_ = 0;
};

}  // namespace

Result<void> Reader::verify_structure() const { return Walk(*source_, index_, container_id_).run(index_offset_); }

}  // namespace forebay::container
