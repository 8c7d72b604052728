#include "engine/set/frame_parts.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "engine/set/decoded_frames.h"
#include "engine/set/frame_io.h"
#include "engine/set/parent_frames.h"

namespace forebay::engine {
namespace {

std::unexpected<Error> damaged(const OpenContainer& container, uint32_t number, const std::string& what) {
  return fail(ErrorKind::corrupt, fmt::format("frame {}: {}", number, what), container.path,
              container.index().frames[number].record_offset);
}

// Of a frame that lies in `container`: table and cuts, if it has entries.
Result<FrameParts> find_own_parts(const OpenContainer& container, uint32_t number, const container::FrameHead& head) {
  const merge::Frame& frame = container.plan->frames()[number];
  FrameParts parts{.slices = container.plan->slices(frame),
                   .cuts = {},
                   .table = {},
                   .payload_offset = head.payload_offset,
                   .raw_bytes = frame.raw_bytes,
                   .parent = {}};
  if (!codec::has_entries(head.recipe)) return parts;
  auto table = codec::read_entry_table(head.recipe);
  if (!table) return damaged(container, number, table.error().what);
  if (table->payload_bytes() != head.payload_bytes)
    return damaged(container, number, "a payload of another size than its entries");
  auto cuts = codec::cut_entries(*table, container.plan->shape(frame, parts.slices));
  if (!cuts) return damaged(container, number, cuts.error().what);
  parts.table = *std::move(table);
  parts.cuts = *std::move(cuts);
  return parts;
}

// A range of the raw bytes of a frame that others are predicted from.
Result<Buffer> read_range(const OpenContainer& container, uint32_t number, uint64_t begin, uint64_t bytes) {
  FOREBAY_TRY(const FrameParts parts, find_parts(container, number));
  if (begin > parts.raw_bytes || bytes > parts.raw_bytes - begin)
    return damaged(container, number, "a frame that others are predicted from is smaller than they are");
  Buffer range(bytes);
  if (parts.cuts.empty()) {
    DecodedFrames nothing_kept(0);
    FOREBAY_TRY(const auto raw, (container.decoded ? *container.decoded : nothing_kept).get(container, number));
    std::memcpy(range.data(), raw->data() + begin, bytes);
    return range;
  }
  const size_t first = parts.at(begin), last = parts.at(begin + bytes - 1);
  FOREBAY_TRY(const std::vector<Buffer> raw, read_parts(container, number, parts, first, last - first + 1));
  for (size_t part = first; part <= last; ++part) {
    const uint64_t from = std::max(begin, parts.begin_of(part));
    const uint64_t end = std::min(begin + bytes, parts.begin_of(part) + parts.bytes_of(part));
    std::memcpy(range.data() + (from - begin), raw[part - first].data() + (from - parts.begin_of(part)), end - from);
  }
  return range;
}

Result<std::vector<Buffer>> read_own_parts(const OpenContainer& container, uint32_t number, const FrameParts& parts,
                                           size_t first, size_t count) {
  std::vector<Buffer> raw;
  if (parts.cuts.empty()) {
    FOREBAY_TRY(RawFrame frame, read_frame(container, number));
    raw.push_back(std::move(frame.raw));
    return raw;
  }
  const auto& places = parts.table->places;
  const uint64_t begin = parts.begin_of(first), at = places[first].offset;
  Buffer payload(stored_bytes(container, number, parts, first, count));
  FOREBAY_CHECK(container.reader->source().read_at(parts.payload_offset + at, payload.span()));
  std::vector<Buffer> ranges;
  for (const uint32_t reference : container.index().frames[number].references) {
    FOREBAY_CHECK(check_reference(container, number, reference));
    const uint64_t bytes = parts.begin_of(first + count - 1) + parts.bytes_of(first + count - 1) - begin;
    auto range = read_range(container, reference, begin, bytes);
    if (!range) return blamed_on_reference(number, std::move(range).error());
    ranges.push_back(*std::move(range));
  }
  for (size_t part = first; part < first + count; ++part) {
    const codec::EntryCut& cut = parts.cuts[part];
    Buffer& out = raw.emplace_back(cut.bytes());
    std::vector<std::span<const std::byte>> references;
    for (const Buffer& range : ranges) references.push_back(range.span().subspan(cut.begin - begin, out.size()));
    const auto encoded = std::span(payload.span()).subspan(places[part].offset - at, places[part].size);
    if (auto decoded = codec::decode_entry(*parts.table, part, cut, encoded, out.span(), references); !decoded) {
      if (decoded.error().kind == ErrorKind::corrupt) return damaged(container, number, decoded.error().what);
      return std::unexpected(std::move(decoded).error());
    }
  }
  return raw;
}

}  // namespace

size_t FrameParts::at(uint64_t offset) const {
  if (cuts.empty()) return 0;
  return static_cast<size_t>(std::ranges::upper_bound(cuts, offset, {}, &codec::EntryCut::begin) - cuts.begin()) - 1;
}

uint64_t FrameParts::memory_bytes() const {
  uint64_t bytes = sizeof *this + slices.size() * sizeof(merge::Slice);
  for (const codec::EntryCut& cut : cuts)
    bytes += sizeof cut + cut.shape.blocks.size() * sizeof(Block) + sizeof(codec::EntryTable::Place);
  return bytes;
}

Result<FrameParts> find_parts(const OpenContainer& container, uint32_t number) {
  FOREBAY_TRY(const container::FrameHead head, container.reader->read_head(number));
  if (!is_parent_recipe(head.recipe)) return find_own_parts(container, number, head);
  FOREBAY_TRY(const ParentFrame parent, parent_of(container, number, head.recipe, head.payload_bytes));
  FrameParts parts;
  FOREBAY_CHECK(in_parent(container, number, parent, [&](const OpenContainer& origin) -> Result<void> {
    FOREBAY_TRY(parts, find_parts(origin, parent.number));
    return {};
  }));
  parts.slices = container.plan->slices(container.plan->frames()[number]);
  parts.parent = parent;
  return parts;
}

Result<std::vector<Buffer>> read_parts(const OpenContainer& container, uint32_t number, const FrameParts& parts,
                                       size_t first, size_t count) {
  if (!parts.parent) return read_own_parts(container, number, parts, first, count);
  std::vector<Buffer> raw;
  FOREBAY_CHECK(in_parent(container, number, *parts.parent, [&](const OpenContainer& origin) -> Result<void> {
    FOREBAY_TRY(raw, read_own_parts(origin, parts.parent->number, parts, first, count));
    return {};
  }));
  return raw;
}

uint64_t stored_bytes(const OpenContainer& container, uint32_t number, const FrameParts& parts, size_t first,
                      size_t count) {
  if (parts.cuts.empty()) return container.index().frames[number].encoded_bytes;
  const auto& places = parts.table->places;
  return places[first + count - 1].offset + places[first + count - 1].size - places[first].offset;
}

uint64_t parts_memory(const OpenContainer& container, uint32_t number, const FrameParts& parts, size_t first,
                      size_t count) {
  if (parts.cuts.empty()) return frame_memory(container, number);
  uint64_t raw = 0, largest = 0;
  for (size_t part = first; part < first + count; ++part) {
    raw += parts.bytes_of(part);
    largest = std::max(largest, parts.bytes_of(part));
  }
  const ReferenceMemory references = reference_memory(container, number);
  return raw + stored_bytes(container, number, parts, first, count) + codec::decode_bytes(parts.table->chain, largest) +
         references.kept + references.decoding;
}

}  // namespace forebay::engine
