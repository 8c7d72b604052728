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

// What decoding of a frame from which another one is predicted takes.
Result<FrameParts::Reference> memory_of_reference(const OpenContainer& container, uint32_t reference) {
  FOREBAY_TRY(const FrameParts parts, find_parts(container, reference));
  if (parts.cuts.empty()) return FrameParts::Reference{false, frame_memory(container, reference)};
  const uint64_t most = parts.table->most_bytes;
  // As much stored as there is: an entry that is larger than its bytes is a hostile one's.
  const uint64_t more = parts.table->payload_bytes() - std::min(parts.table->payload_bytes(), parts.raw_bytes);
  return FrameParts::Reference{true, 2 * most + codec::decode_bytes(parts.table->chain, most) + more};
}

// The same of all frames that frame `number` is predicted from.
Result<std::vector<FrameParts::Reference>> memory_of_references(const OpenContainer& container, uint32_t number,
                                                                const std::optional<ParentFrame>& before) {
  std::vector<FrameParts::Reference> references;
  for (const uint32_t reference : container.index().frames[number].references) {
    FOREBAY_CHECK(check_reference(container, number, reference));
    auto memory = memory_of_reference(container, reference);
    if (!memory) return blamed_on_reference(number, std::move(memory).error());
    references.push_back(*memory);
  }
  if (before)
    FOREBAY_CHECK(in_before(container, number, *before, [&](const OpenContainer& origin) -> Result<void> {
      FOREBAY_TRY(references.emplace_back(), memory_of_reference(origin, before->number));
      return {};
    }));
  return references;
}

// Of a frame that lies in `container`: table and cuts, if it has entries.
Result<FrameParts> find_own_parts(const OpenContainer& container, uint32_t number, const container::FrameHead& head) {
  const merge::Frame& frame = container.plan->frames()[number];
  FrameParts parts{.slices = container.plan->slices(frame),
                   .cuts = {},
                   .table = {},
                   .payload_offset = head.payload_offset,
                   .raw_bytes = frame.raw_bytes,
                   .parent = {},
                   .before = {},
                   .references = {}};
  Bytes recipe = head.recipe;
  if (is_before_recipe(recipe)) {
    FOREBAY_TRY(BeforeRecipe named, before_of(container, number, recipe));
    parts.before = std::move(named.before);
    recipe = std::move(named.recipe);
  }
  FOREBAY_TRY(parts.references, memory_of_references(container, number, parts.before));
  if (!codec::has_entries(recipe)) return parts;
  auto table = codec::read_entry_table(recipe);
  if (!table) return damaged(container, number, table.error().what);
  if (table->payload_bytes() != head.payload_bytes)
    return damaged(container, number, "a payload of another size than its entries");
  auto cuts = codec::cut_entries(*table, container.plan->shape(frame, parts.slices));
  if (!cuts) return damaged(container, number, cuts.error().what);
  parts.table = *std::move(table);
  parts.cuts = *std::move(cuts);
  return parts;
}

Result<std::shared_ptr<const Buffer>> read_afresh(const OpenContainer& container, uint32_t number, uint64_t begin,
                                                  uint64_t bytes);

// The ranges at the same place of all frames that frame `number` is predicted from.
Result<std::vector<std::shared_ptr<const Buffer>>> read_references(const OpenContainer& container, uint32_t number,
                                                                   const FrameParts& parts, uint64_t begin,
                                                                   uint64_t bytes,
                                                                   const ReadReference& read_reference) {
  std::vector<std::shared_ptr<const Buffer>> ranges;
  for (const uint32_t reference : container.index().frames[number].references) {
    FOREBAY_CHECK(check_reference(container, number, reference));
    const uint64_t size = container.plan->frames()[reference].raw_bytes;
    if (begin > size || bytes > size - begin)
      return damaged(container, number, "a frame that it is predicted from is smaller than it is");
    auto range = read_reference(reference, begin, bytes);
    if (!range) return blamed_on_reference(number, std::move(range).error());
    ranges.push_back(*std::move(range));
  }
  if (parts.before)
    FOREBAY_CHECK(in_before(container, number, *parts.before, [&](const OpenContainer& origin) -> Result<void> {
      FOREBAY_TRY(ranges.emplace_back(), read_afresh(origin, parts.before->number, begin, bytes));
      return {};
    }));
  return ranges;
}

// Of a frame that lies in `container`, as a whole.
Result<Buffer> read_whole(const OpenContainer& container, uint32_t number, const FrameParts& parts,
                          const ReadReference& read_reference) {
  FOREBAY_TRY(const StoredFrame stored, fetch_frame(container, number));
  const uint64_t bytes = container.plan->frames()[number].raw_bytes;
  FOREBAY_TRY(const auto ranges, read_references(container, number, parts, 0, bytes, read_reference));
  std::vector<std::span<const std::byte>> references;
  for (const auto& range : ranges) references.push_back(range->span());
  FOREBAY_TRY(RawFrame frame, decode_own_frame(container, stored, references));
  return std::move(frame.raw);
}

Result<std::vector<Buffer>> read_own_parts(const OpenContainer& container, uint32_t number, const FrameParts& parts,
                                           size_t first, size_t count, const ReadReference& read_reference) {
  std::vector<Buffer> raw;
  if (parts.cuts.empty()) {
    FOREBAY_TRY(raw.emplace_back(), read_whole(container, number, parts, read_reference));
    return raw;
  }
  const auto& places = parts.table->places;
  const uint64_t begin = parts.begin_of(first), at = places[first].offset;
  const uint64_t bytes = parts.begin_of(first + count - 1) + parts.bytes_of(first + count - 1) - begin;
  Buffer payload(stored_bytes(container, number, parts, first, count));
  FOREBAY_CHECK(container.reader->source().read_at(parts.payload_offset + at, payload.span()));
  FOREBAY_TRY(const auto ranges, read_references(container, number, parts, begin, bytes, read_reference));
  for (size_t part = first; part < first + count; ++part) {
    const codec::EntryCut& cut = parts.cuts[part];
    Buffer& out = raw.emplace_back(cut.bytes());
    std::vector<std::span<const std::byte>> references;
    for (const auto& range : ranges) references.push_back(range->span().subspan(cut.begin - begin, out.size()));
    const auto encoded = std::span(payload.span()).subspan(places[part].offset - at, places[part].size);
    if (auto decoded = codec::decode_entry(*parts.table, part, cut, encoded, out.span(), references); !decoded) {
      if (decoded.error().kind == ErrorKind::corrupt) return damaged(container, number, decoded.error().what);
      return std::unexpected(std::move(decoded).error());
    }
  }
  return raw;
}

// Ranges of a set of which no parts are kept.
Result<std::shared_ptr<const Buffer>> read_afresh(const OpenContainer& container, uint32_t number, uint64_t begin,
                                                  uint64_t bytes) {
  const auto range = std::make_shared<Buffer>(bytes);
  if (bytes == 0) return range;
  FOREBAY_TRY(const FrameParts parts, find_parts(container, number));
  if (parts.cuts.empty()) {
    DecodedFrames nothing_kept(0);
    FOREBAY_TRY(auto raw, (container.decoded ? *container.decoded : nothing_kept).get(container, number));
    if (raw->size() == bytes) return raw;
    parts.copy(begin, bytes, [&](size_t) { return raw->span(); }, range->span());
    return range;
  }
  const size_t first = parts.at(begin), last = parts.at(begin + bytes - 1);
  FOREBAY_TRY(const std::vector<Buffer> raw, read_parts(container, number, parts, first, last - first + 1));
  parts.copy(begin, bytes, [&](size_t part) { return raw[part - first].span(); }, range->span());
  return range;
}

}  // namespace

size_t FrameParts::at(uint64_t offset) const {
  if (cuts.empty()) return 0;
  return static_cast<size_t>(std::ranges::upper_bound(cuts, offset, {}, &codec::EntryCut::begin) - cuts.begin()) - 1;
}

void FrameParts::copy(uint64_t begin, uint64_t bytes, const std::function<std::span<const std::byte>(size_t part)>& raw,
                      std::span<std::byte> out) const {
  for (size_t part = at(begin); bytes > 0; ++part) {
    const uint64_t from = begin - begin_of(part), length = std::min(bytes, bytes_of(part) - from);
    std::memcpy(out.data(), raw(part).data() + from, length);
    out = out.subspan(length);
    begin += length;
    bytes -= length;
  }
}

uint64_t FrameParts::memory_bytes() const {
  uint64_t bytes = sizeof *this + slices.size() * sizeof(merge::Slice) + references.size() * sizeof(Reference);
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
                                       size_t first, size_t count, const ReadReference& read_reference) {
  const auto afresh_from = [](const OpenContainer& origin) -> ReadReference {
    return [&origin](uint32_t reference, uint64_t begin, uint64_t bytes) {
      return read_afresh(origin, reference, begin, bytes);
    };
  };
  if (!parts.parent)
    return read_own_parts(container, number, parts, first, count,
                          read_reference ? read_reference : afresh_from(container));
  std::vector<Buffer> raw;
  FOREBAY_CHECK(in_parent(container, number, *parts.parent, [&](const OpenContainer& origin) -> Result<void> {
    FOREBAY_TRY(raw, read_own_parts(origin, parts.parent->number, parts, first, count, afresh_from(origin)));
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
  if (parts.parent && parts.cuts.empty()) return frame_memory(container, number);
  uint64_t raw = 0, largest = 0;
  for (size_t part = first; part < first + count; ++part) {
    raw += parts.bytes_of(part);
    largest = std::max(largest, parts.bytes_of(part));
  }
  uint64_t memory = parts.cuts.empty() ? own_frame_memory(container, number)
                                       : raw + stored_bytes(container, number, parts, first, count) +
                                             codec::decode_bytes(parts.table->chain, largest);
  constexpr uint64_t kPartsToo = 3;  // the range, the parts that it is put together from, and these as they are stored
  for (const FrameParts::Reference& reference : parts.references)
    memory += reference.decoding + raw * (reference.has_parts ? kPartsToo : 1);
  return memory;
}

}  // namespace forebay::engine
