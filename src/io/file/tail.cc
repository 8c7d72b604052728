#include "io/file/tail.h"

#include <algorithm>

#include <fmt/format.h>

#include "container/part_draft.h"
#include "container/record.h"

namespace forebay::io {

using container::kFileHeaderBytes;
using container::kTrailerBytes;
using container::RecordType;
using container::Trailer;

namespace {

std::unexpected<Error> damaged(const ByteSource& source, uint64_t offset, std::string what) {
  return fail(ErrorKind::corrupt, std::move(what), source.name(), offset);
}

// Whether `trailer` can be one of the container whose first part this is, if it grows.
bool is_own(const Trailer& trailer, const FirstPart& first) {
  return trailer.grows() && trailer.container_id == first.container_id && trailer.last.offset >= first.end;
}

std::optional<Trailer> own_trailer_at(const ByteSource& source, const FirstPart& first, uint64_t offset) {
  const auto trailer = container::read_trailer(source, offset);
  return trailer && trailer->fits(offset) && is_own(*trailer, first) ? std::optional(*trailer) : std::nullopt;
}

// The copy at `offset`, whatever is where it says.
std::optional<Trailer> copy_at(const ByteSource& source, const FirstPart& first, uint64_t offset) {
  const auto copy = container::read_trailer(source, offset);
  const bool is_possible =
      copy && copy->file_bytes >= kTrailerBytes && copy->fits(copy->file_bytes - kTrailerBytes) && is_own(*copy, first);
  return is_possible ? std::optional(*copy) : std::nullopt;
}

// The list of a trailer, to the last bit.
Result<void> check_list(const ByteSource& source, const Trailer& trailer) {
  FOREBAY_CHECK(find_list(source, trailer.last, trailer.container_id));
  FOREBAY_TRY(const auto record, container::find_record(source, trailer.last.offset, trailer.last.end()));
  return container::check_payload(source, record);
}

// One that takes longer to check than a search is not there.
bool has_whole_list(const ByteSource& source, const Trailer& trailer) {
  return trailer.last.bytes <= kSearchedBytes && check_list(source, trailer);
}

struct Copied {
  std::optional<Trailer> latest;  // of those that the copies speak of, if it or its list is where they say
  bool is_old = false;  // a copy speaks of a trailer behind the end of the source: others have added steps since
                        // the source was opened, or a power cut took them
};

Copied copied_trailer(const ByteSource& source, const FirstPart& first) {
  Copied copied;
  for (const uint64_t slot : kCopySlots) {
    const auto copy = copy_at(source, first, first.end + slot);
    if (!copy) continue;
    copied.is_old = copied.is_old || copy->file_bytes > source.size();
    if (copy->file_bytes > source.size() || (copied.latest && copied.latest->file_bytes >= copy->file_bytes)) continue;
    const auto found = own_trailer_at(source, first, copy->file_bytes - kTrailerBytes);
    if (found || has_whole_list(source, *copy)) copied.latest = found ? found : copy;
  }
  return copied;
}

// One that a copy speaks of and that ends at `end` or before it.
std::optional<Trailer> copied_before(const ByteSource& source, const FirstPart& first, uint64_t end) {
  for (const uint64_t slot : kCopySlots)
    if (const auto copy = copy_at(source, first, first.end + slot); copy && copy->file_bytes <= end)
      if (const auto found = own_trailer_at(source, first, copy->file_bytes - kTrailerBytes)) return found;
  return {};
}

// The last one that ends at `end` or before it.
std::optional<Trailer> search_backwards(const ByteSource& source, const FirstPart& first, uint64_t end) {
  constexpr uint64_t kPiece = 1 << 20, kOverlap = 7;
  const auto marker = std::as_bytes(std::span(container::kTrailerMagic));
  const uint64_t last = end;
  const uint64_t stop = end > kSearchedBytes ? end - kSearchedBytes : 0;
  Bytes piece;
  while (end > stop) {
    const uint64_t begin = end > kPiece ? end - kPiece : 0;
    piece.resize(std::min(end + kOverlap, last) - begin);
    if (!source.read_at(begin, piece)) return {};
    for (auto rest = std::span(piece); !rest.empty();) {
      const auto found = std::ranges::find_end(rest, marker);
      if (found.empty()) break;
      const auto at = static_cast<uint64_t>(found.begin() - rest.begin());
      if (const auto trailer = own_trailer_at(source, first, begin + at)) return trailer;
      rest = rest.first(at + kOverlap);
    }
    end = begin;
  }
  return {};
}

}  // namespace

std::array<std::byte, kListMetaBytes> encode(const ListMeta& meta) {
  std::array<std::byte, kListMetaBytes> bytes{};
  const std::array<uint64_t, 7> fields = {meta.number,          meta.covers,          meta.steps,
                                          meta.last_time_index, meta.previous.offset, meta.previous.bytes,
                                          meta.previous.hash};
  for (size_t i = 0; i < fields.size(); ++i) store_le<uint64_t>(bytes.data() + 8 * i, fields[i]);
  return bytes;
}

Result<FoundList> find_list(const ByteSource& source, const RecordPlace& place, uint64_t container_id) {
  constexpr const char* kDiffers = "this is not the list of process groups that belongs here";
  FOREBAY_TRY(const auto record, container::find_record(source, place, kDiffers));
  if (record.header.type != RecordType::groups || record.header.meta_bytes != kListMetaBytes ||
      record.header.id != container_id)
    return damaged(source, place.offset, kDiffers);
  FOREBAY_TRY(const Bytes bytes, container::read_meta(source, record));
  const auto field = [&](size_t i) { return load_le<uint64_t>(bytes.data() + 8 * i); };
  const FoundList list{place, ListMeta{.number = field(0),
                                       .covers = field(1),
                                       .steps = field(2),
                                       .last_time_index = static_cast<uint32_t>(field(3)),
                                       .previous = {field(4), field(5), field(6)}}};
  const ListMeta& meta = list.meta;
  const bool has_previous = meta.previous.is_there();
  const bool is_possible =
      meta.covers >= 1 && meta.covers <= meta.number && has_previous == (meta.covers < meta.number) &&
      (!has_previous || meta.previous.offset < place.offset) && meta.steps <= place.offset / kLeastStepBytes + 1;
  return is_possible ? Result<FoundList>(list) : damaged(source, place.offset, "this list of process groups cannot be");
}

Result<Listing> read_list(const ByteSource& source, const FoundList& list, uint64_t max_bytes) {
  FOREBAY_TRY(const auto record, container::find_record(source, list.place.offset, list.place.end()));
  if (record.header.payload_bytes > max_bytes)
    return fail(ErrorKind::limit, "the list of process groups is too large", source.name(), record.offset);
  FOREBAY_TRY(const Bytes payload, container::read_payload(source, record));
  auto listing = decode_listing(payload, max_bytes);
  if (!listing) return container::at(source, record.payload_offset(), listing.error());
  return listing;
}

Result<FirstPart> find_first_part(const ByteSource& source) {
  std::array<std::byte, kFileHeaderBytes> header;
  if (source.size() < kFileHeaderBytes) return damaged(source, 0, "there are too few bytes for a container");
  FOREBAY_CHECK(source.read_at(0, header));
  if (const auto checked = container::check_file_header(header); !checked)
    return container::at(source, 0, checked.error());
  FOREBAY_TRY(const auto head, container::find_record(source, kFileHeaderBytes, source.size()));
  FOREBAY_TRY(const auto index, container::find_record(source, head.end(), source.size()));
  if (head.header.type != RecordType::head || index.header.type != RecordType::index ||
      head.header.id != index.header.id)
    return damaged(source, kFileHeaderBytes, "the container does not begin as one that grows");
  return FirstPart{head.header.id, index.end()};
}

Result<Beginning> make_beginning(std::span<const std::byte, 16> random) {
  FOREBAY_TRY(auto draft, container::PartDraft::make({}, {}, {.description = Bytes(random.begin(), random.end())}));
  const auto header = container::encode_file_header();
  const auto head = draft.head_front();
  Beginning beginning{.bytes = Bytes(header.begin(), header.end()), .part = {.container_id = draft.id()}};
  const auto put = [&](const Bytes& bytes) {
    beginning.bytes.insert(beginning.bytes.end(), bytes.begin(), bytes.end());
  };
  put(head.bytes);
  put(draft.head());
  FOREBAY_TRY(const auto index, draft.finish({}, {}));
  put(index.front.bytes);
  put(index.payload);
  beginning.part.end = beginning.bytes.size();
  beginning.bytes.resize(beginning.bytes.size() + kCopiesBytes);
  return beginning;
}

Result<Trailer> find_trailer(const ByteSource& source) {
  if (source.size() < kFileHeaderBytes + kTrailerBytes)
    return damaged(source, 0, fmt::format("{} bytes are too few for a container", source.size()));
  const uint64_t end = source.size() - kTrailerBytes;
  if (const auto last = container::read_trailer(source, end); last && last->fits(end) && !last->grows())
    return fail(ErrorKind::unsupported, "this is a container of a set, not a file of process groups", source.name());
  FOREBAY_TRY(const FirstPart first, find_first_part(source));
  if (const auto own = own_trailer_at(source, first, end)) return *own;
  const Copied copied = copied_trailer(source, first);
  if (copied.latest && !copied.is_old) return *copied.latest;
  const auto found = search_backwards(source, first, source.size());
  if (found && (!copied.latest || copied.latest->file_bytes < found->file_bytes)) return *found;
  if (copied.latest) return *copied.latest;
  return damaged(source, source.size(), "the file has no whole step");
}

Result<Trailer> find_trailer_of_whole_list(const ByteSource& source) {
  FOREBAY_TRY(Trailer trailer, find_trailer(source));
  FOREBAY_TRY(const FirstPart first, find_first_part(source));
  for (;;) {
    const auto checked = check_list(source, trailer);
    if (checked) return trailer;
    if (checked.error().kind != ErrorKind::corrupt) return std::unexpected(checked.error());
    auto before = copied_before(source, first, trailer.last.offset);
    if (!before) before = search_backwards(source, first, trailer.last.offset);
    if (!before && trailer.last.offset > kSearchedBytes)
      return fail(ErrorKind::limit,
                  "the list of the last step is damaged, and the step before is too far in front of it", source.name(),
                  trailer.last.offset);
    if (!before) return std::unexpected(checked.error());
    trailer = *before;
  }
}

std::vector<TrailerCopy> copies_behind(const ByteSource& source, const FirstPart& first, uint64_t end) {
  std::vector<TrailerCopy> copies;
  for (const uint64_t slot : kCopySlots) {
    const auto copy = copy_at(source, first, first.end + slot);
    if (copy && copy->file_bytes > end) copies.push_back({first.end + slot, copy->file_bytes});
  }
  return copies;
}

}  // namespace forebay::io
