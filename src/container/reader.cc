#include <algorithm>

#include <fmt/format.h>

#include "base/checksum.h"
#include "container/container.h"
#include "container/cubes_codec.h"
#include "container/format.h"
#include "container/record.h"
#include "container/walk.h"

namespace forebay::container {

namespace {

constexpr const char* kRepairHint = "`forebay repair STORE NAME` rebuilds what the records allow";

// Damage of what open() reads is what repair is for.
std::unexpected<Error> repairable(Error error) {
  if (error.kind == ErrorKind::corrupt && error.hint.empty()) error.hint = kRepairHint;
  return std::unexpected(std::move(error));
}

Result<Trailer> find_last_trailer(const ByteSource& source) {
  constexpr uint64_t kSmallest = kFileHeaderBytes + 2 * kRecordHeaderBytes + kTrailerBytes;
  if (source.size() < kSmallest)
    return fail(ErrorKind::corrupt, fmt::format("{} bytes are too few for a container", source.size()), source.name());
  std::array<std::byte, kFileHeaderBytes> header;
  FOREBAY_CHECK(source.read_at(0, header));
  if (const auto checked = check_file_header(header); !checked) return at(source, 0, checked.error());
  const uint64_t offset = source.size() - kTrailerBytes;
  FOREBAY_TRY(const Trailer trailer, read_trailer(source, offset));
  if (!trailer.fits(offset))
    return fail(ErrorKind::corrupt, "the trailer is that of a file of another size", source.name(), offset);
  return trailer;
}

// Every frame lies between the head and the index of its part.
Result<void> check_frames(const ByteSource& source, const Index& index, uint64_t head_offset, uint64_t index_offset) {
  for (size_t number = 0; number < index.frames.size(); ++number) {
    const FrameEntry& frame = index.frames[number];
    const bool lost = frame.is_lost() && frame.encoded_bytes == 0;
    const bool inside = frame.record_offset >= head_offset + kRecordHeaderBytes && frame.record_offset < index_offset &&
                        frame.encoded_bytes < index_offset - frame.record_offset;
    if (!lost && !inside)
      return fail(ErrorKind::corrupt, fmt::format("index: frame {} lies outside of the file", number), source.name(),
                  index_offset);
  }
  return {};
}

// A frame's record, and what its meta says.
struct FoundFrame {
  FoundRecord record;
  Bytes recipe;
};

Result<FoundFrame> find_frame(const ByteSource& source, const Index& index, uint32_t number) {
  const FrameEntry& entry = index.frames[number];
  if (entry.is_lost())
    return fail(ErrorKind::corrupt, "the frame was lost before this container was repaired", source.name());
  FOREBAY_TRY(const FoundRecord record, find_record(source, entry.record_offset, source.size()));
  FOREBAY_TRY(const Bytes meta_bytes, read_frame_meta(source, record, index, number));
  FOREBAY_TRY(const FrameMeta meta, parse_frame_meta(meta_bytes));
  return FoundFrame{record, Bytes(meta.recipe.begin(), meta.recipe.end())};
}

// Calls read(index, number) if there is such a frame, and names it in errors.
template <class Read>
auto named(const ByteSource& source, const Index& index, uint32_t number, const Read& read)
    -> decltype(read(index, number)) {
  if (number >= index.frames.size())
    return fail(ErrorKind::invalid_argument, fmt::format("there is no frame {}", number), source.name());
  auto frame = read(index, number);
  if (!frame) frame.error().what = fmt::format("frame {}: {}", number, frame.error().what);
  return frame;
}

}  // namespace

Result<FrameHead> read_frame_head(const ByteSource& source, const Index& index, uint32_t number) {
  return named(source, index, number, [&](const Index& of, uint32_t frame) -> Result<FrameHead> {
    FOREBAY_TRY(FoundFrame found, find_frame(source, of, frame));
    return FrameHead{std::move(found.recipe), found.record.payload_offset(), found.record.header.payload_bytes};
  });
}

Result<FramePayload> read_frame(const ByteSource& source, const Index& index, uint32_t number) {
  return named(source, index, number, [&](const Index& of, uint32_t frame) -> Result<FramePayload> {
    FOREBAY_TRY(FoundFrame found, find_frame(source, of, frame));
    FOREBAY_TRY(Bytes payload, read_payload(source, found.record));
    return FramePayload{std::move(found.recipe), std::move(payload)};
  });
}

bool looks_like_container(const ByteSource& source) {
  const auto has_at = [&](uint64_t offset, const Marker& marker) {
    std::array<std::byte, sizeof(Marker)> bytes;
    return source.read_at(offset, bytes) && std::ranges::equal(bytes, std::as_bytes(std::span(marker)));
  };
  if (source.size() >= sizeof(Marker) && has_at(0, kFileMagic)) return true;
  return source.size() >= kTrailerBytes && has_at(source.size() - kTrailerBytes, kTrailerMagic);
}

Result<std::unique_ptr<Reader>> Reader::open_part(std::shared_ptr<const ByteSource> source, const PartEntry& entry,
                                                  uint64_t max_index_bytes) {
  const auto record =
      find_record(*source, entry.index, "the index is not the one that the trailer or a list describes");
  if (!record) return repairable(record.error());
  auto index = read_index(*source, *record, max_index_bytes);
  if (!index) return repairable(index.error());
  if (const auto checked = check_frames(*source, *index, entry.offset, entry.index.offset); !checked)
    return repairable(checked.error());
  std::unique_ptr<Reader> reader(new Reader);
  reader->source_ = std::move(source);
  reader->index_ = *std::move(index);
  reader->id_ = record->header.id;
  reader->offset_ = entry.offset;
  reader->index_offset_ = entry.index.offset;
  return reader;
}

Result<std::unique_ptr<Reader>> Reader::open(std::shared_ptr<const ByteSource> source, uint64_t max_index_bytes) {
  const auto trailer = find_last_trailer(*source);
  if (!trailer) return repairable(trailer.error());
  if (trailer->grows())
    return fail(ErrorKind::unsupported, "this is a file of process groups, not a container of a set", source->name(),
                {}, "`forebay info` shows what it has");
  const PartEntry only{.offset = kFileHeaderBytes, .index = trailer->last};
  FOREBAY_TRY(std::unique_ptr<Reader> reader, open_part(std::move(source), only, max_index_bytes));
  const PartFacts& part = reader->index().part;
  if (part.number == 0 && part.container_id == 0 && reader->id() == trailer->container_id) return reader;
  return repairable(
      {ErrorKind::corrupt, "the index is not that of this container", reader->source().name(), only.index.offset, {}});
}

Result<std::vector<VariableCubes>> Reader::read_cubes(uint32_t key, uint64_t max_bytes) const {
  if (!index_.cubes) return std::vector<VariableCubes>();
  const auto [offset, bytes, hash] = *index_.cubes;
  if (offset < offset_ || offset >= index_offset_ || bytes > index_offset_ - offset)
    return fail(ErrorKind::corrupt, "index: the cubes lie outside of the part", source_->name(), index_offset_);
  FOREBAY_TRY(const FoundRecord record,
              find_record(*source_, *index_.cubes, "the cubes are not those that the index describes"));
  if (record.header.type != RecordType::cubes || record.header.id != id_)
    return fail(ErrorKind::corrupt, "this record has no cubes of the part", source_->name(), offset);
  if (record.header.payload_bytes > max_bytes)
    return fail(ErrorKind::limit, "the cubes are too large", source_->name(), offset, "raise --memory");
  FOREBAY_TRY(const Bytes payload, read_payload(*source_, record));
  auto cubes = decode_cubes(payload, index_.catalogue, key, max_bytes);
  if (!cubes) return at(*source_, record.payload_offset(), cubes.error());
  return cubes;
}

uint64_t Reader::read_bytes(uint32_t number) const {
  return index_.frames[number].encoded_bytes + kMaxFrameMetaBytes + kRecordHeaderBytes;
}

Result<void> Reader::verify_structure() const { return walk_part(*source_, index_, id_, offset_, index_offset_); }

}  // namespace forebay::container
