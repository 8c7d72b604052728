#include "container/index_codec.h"

#include <algorithm>
#include <bit>

#include "container/bounded.h"
#include "container/characteristics_codec.h"
#include "container/column.h"
#include "container/format.h"
#include "container/unfolding.h"

namespace forebay::container {

namespace {

template <class Field>
Values frame_column(const Index& index, Field field) {
  Values values;
  values.reserve(index.frames.size());
  for (const FrameEntry& frame : index.frames) values.push_back(field(frame));
  return values;
}

Values reference_column(const Index& index) {
  Values values;
  for (size_t number = 0; number < index.frames.size(); ++number)
    for (const uint32_t reference : index.frames[number].references) values.push_back(zigzag(reference - number));
  return values;
}

Result<void> decode_frames(const fb::Contents& table, ColumnReader& in, std::vector<Lease>& kept, Index& index) {
  auto& frames = index.frames;
  const uint64_t count = ColumnReader::count(table.frame_offsets());
  FOREBAY_TRY(Lease rows, in.lease(count, sizeof(FrameEntry)));
  kept.push_back(std::move(rows));
  frames.resize(count);
  const auto fill = [&](const fb::Column* column, uint64_t max, auto assign) -> Result<void> {
    FOREBAY_TRY(const auto values, in.get(column, count, max));
    for (size_t i = 0; i < count; ++i) assign(frames[i], values[i]);
    return {};
  };
  FOREBAY_TRY(const auto offsets, in.get_deltas(table.frame_offsets(), count));
  for (size_t i = 0; i < count; ++i) frames[i].record_offset = offsets[i];
  FOREBAY_CHECK(fill(table.frame_raw_bytes(), UINT64_MAX, [](FrameEntry& f, uint64_t v) { f.raw_bytes = v; }));
  FOREBAY_CHECK(fill(table.frame_encoded_bytes(), UINT64_MAX, [](FrameEntry& f, uint64_t v) { f.encoded_bytes = v; }));
  FOREBAY_CHECK(fill(table.frame_raw_hashes(), UINT64_MAX, [](FrameEntry& f, uint64_t v) { f.raw_hash = v; }));
  FOREBAY_CHECK(fill(table.frame_encoded_hashes(), UINT64_MAX, [](FrameEntry& f, uint64_t v) { f.encoded_hash = v; }));
  FOREBAY_CHECK(fill(table.frame_chains(), UINT32_MAX, [](FrameEntry& f, uint64_t v) { f.chain = uint32_t(v); }));
  return std::ranges::all_of(frames, [&](const FrameEntry& f) { return f.chain < index.chains.size(); })
             ? Result<void>()
             : bad("a frame names a chain that is not there");
}

// Offsets of frames from their distances to the index record.
Result<void> place_frames(Index& index, uint64_t index_offset) {
  for (FrameEntry& frame : index.frames) {
    if (frame.is_lost()) continue;
    if (frame.record_offset >= index_offset) return bad("a frame lies outside of the file");
    frame.record_offset = index_offset - frame.record_offset;
  }
  return {};
}

Result<void> decode_references(const fb::Contents& table, ColumnReader& in, std::vector<Lease>& kept, Index& index) {
  const size_t frames = index.frames.size();
  FOREBAY_TRY(const auto counts, in.get(table.frame_reference_counts(), frames, kMaxReferences));
  uint64_t total = 0;
  for (const uint64_t count : counts.values) total += count;
  FOREBAY_TRY(const auto references, in.get(table.frame_references(), total));
  FOREBAY_TRY(Lease lease, in.lease(total, sizeof(uint32_t)));
  kept.push_back(std::move(lease));
  size_t next = 0;
  for (size_t number = 0; number < frames; ++number) {
    for (uint64_t i = 0; i < counts[number]; ++i) {
      const uint64_t reference = number + unzigzag(references[next++]);
      if (reference >= frames || reference == number) return bad("a frame refers to a frame that is not there");
      index.frames[number].references.push_back(static_cast<uint32_t>(reference));
    }
  }
  return {};
}

// The columns of the frames that are stored with loss.
struct LossyColumns {
  Values numbers, kinds, bounds, errors;
};

LossyColumns lossy_columns(const Index& index) {
  LossyColumns columns;
  for (size_t number = 0; number < index.frames.size(); ++number) {
    const auto& lossy = index.frames[number].lossy;
    if (!lossy) continue;
    columns.numbers.push_back(number);
    columns.kinds.push_back(static_cast<uint64_t>(lossy->bound.kind));
    columns.bounds.push_back(std::bit_cast<uint64_t>(lossy->bound.value));
    columns.errors.push_back(std::bit_cast<uint64_t>(lossy->error));
  }
  return columns;
}

Result<void> decode_lossy(const fb::Contents& table, ColumnReader& in, Index& index) {
  const uint64_t count = ColumnReader::count(table.lossy_frames());
  if (count > index.frames.size()) return bad("more frames are stored with loss than there are");
  FOREBAY_TRY(const auto numbers, in.get_deltas(table.lossy_frames(), count));
  FOREBAY_TRY(const auto kinds, in.get(table.lossy_kinds(), count, UINT8_MAX));
  FOREBAY_TRY(const auto bounds, in.get(table.lossy_bounds(), count));
  FOREBAY_TRY(const auto errors, in.get(table.lossy_errors(), count));
  for (size_t i = 0; i < count; ++i) {
    const LossyNote note{.bound = {static_cast<BoundKind>(kinds[i]), std::bit_cast<double>(bounds[i])},
                         .error = std::bit_cast<double>(errors[i])};
    const bool ascends = i == 0 || numbers[i - 1] < numbers[i];
    if (!ascends || numbers[i] >= index.frames.size()) return bad("a frame that is stored with loss is not there");
    if (!note.is_valid()) return bad("an impossible error bound");
    index.frames[numbers[i]].lossy = note;
  }
  return {};
}

}  // namespace

std::vector<VariableFacts> facts_of(const Catalogue& catalogue) {
  std::vector<VariableFacts> facts;
  facts.reserve(catalogue.variables.size());
  for (const VariableRow& row : catalogue.variables) {
    const bool has_values = row.type.is_number() && !row.filtered;
    facts.push_back(
        {.elements = has_values ? catalogue.bytes_of(row) / row.type.size : 0, .key = row.key, .type = row.type});
  }
  return facts;
}

Result<Bytes> encode_contents(const Index& index, std::span<const VariableFacts> facts,
                              std::optional<uint64_t> index_offset, Effort effort) {
  ColumnWriter out(effort);
  const auto chains = out.put(index.chains);
  const auto offsets = out.put_deltas(frame_column(index, [&](const FrameEntry& f) {
    return index_offset && !f.is_lost() ? *index_offset - f.record_offset : f.record_offset;
  }));
  const auto raw_bytes = out.put(frame_column(index, [](const FrameEntry& f) { return f.raw_bytes; }));
  const auto encoded_bytes = out.put(frame_column(index, [](const FrameEntry& f) { return f.encoded_bytes; }));
  const auto raw_hashes = out.put(frame_column(index, [](const FrameEntry& f) { return f.raw_hash; }));
  const auto encoded_hashes = out.put(frame_column(index, [](const FrameEntry& f) { return f.encoded_hash; }));
  const auto frame_chains = out.put(frame_column(index, [](const FrameEntry& f) { return f.chain; }));
  const auto counts = out.put(frame_column(index, [](const FrameEntry& f) { return f.references.size(); }));
  const auto references = out.put(reference_column(index));
  const auto crcs = out.put(index.file_crcs);
  const CharacteristicsColumns columns = put_characteristics(out, index.characteristics, facts);
  const LossyColumns lossy = lossy_columns(index);
  const auto lossy_frames = out.put_deltas(lossy.numbers);
  const auto lossy_kinds = out.put(lossy.kinds), lossy_bounds = out.put(lossy.bounds);
  const auto lossy_errors = out.put(lossy.errors);

  fb::ContentsBuilder table(out.builder());
  table.add_chains(chains);
  table.add_frame_offsets(offsets);
  table.add_frame_raw_bytes(raw_bytes);
  table.add_frame_encoded_bytes(encoded_bytes);
  table.add_frame_raw_hashes(raw_hashes);
  table.add_frame_encoded_hashes(encoded_hashes);
  table.add_frame_chains(frame_chains);
  table.add_frame_reference_counts(counts);
  table.add_frame_references(references);
  table.add_file_crcs(crcs);
  add_characteristics(table, columns);
  table.add_lossy_frames(lossy_frames);
  table.add_lossy_kinds(lossy_kinds);
  table.add_lossy_bounds(lossy_bounds);
  table.add_lossy_errors(lossy_errors);
  table.add_before_index(index_offset.has_value());
  if (index.cubes) {
    table.add_cubes_offset(index.cubes->offset);
    table.add_cubes_bytes(index.cubes->bytes);
    table.add_cubes_hash(index.cubes->hash);
  }
  FOREBAY_TRY(Bytes bytes, out.finish(table.Finish()));
  pad_to_unfold(bytes, unfolded_bytes(index.catalogue) + unfolded_contents_bytes(index));
  return bytes;
}

Result<void> decode_contents(std::span<const std::byte> bytes, uint64_t index_offset, MemoryBudget& budget,
                             std::vector<Lease>& kept, Index& index) {
  FOREBAY_TRY(const fb::Contents* table, verified_root<fb::Contents>(bytes));
  ColumnReader in(budget);
  FOREBAY_TRY(auto chains, in.get(table->chains()));
  kept.push_back(std::move(chains.lease));
  index.chains = std::move(chains.values);
  FOREBAY_CHECK(decode_frames(*table, in, kept, index));
  if (table->before_index()) FOREBAY_CHECK(place_frames(index, index_offset));
  FOREBAY_CHECK(decode_references(*table, in, kept, index));
  FOREBAY_CHECK(decode_lossy(*table, in, index));
  const uint64_t crcs = in.count(table->file_crcs());
  if (crcs != 0 && crcs != index.catalogue.files.size()) return bad("the checksums are not one per file");
  FOREBAY_TRY(auto file_crcs, in.get(table->file_crcs(), crcs));
  kept.push_back(std::move(file_crcs.lease));
  index.file_crcs = std::move(file_crcs.values);
  if (table->cubes_offset() != 0)
    index.cubes = RecordPlace{table->cubes_offset(), table->cubes_bytes(), table->cubes_hash()};
  return get_characteristics(*table, in, kept, index);
}

uint64_t Index::memory_bytes() const {
  uint64_t bytes = catalogue.memory_bytes() + frames.capacity() * sizeof(FrameEntry) +
                   file_crcs.capacity() * sizeof(uint64_t) + characteristics.capacity() * sizeof(Characteristics);
  for (const FrameEntry& frame : frames) bytes += frame.references.capacity() * sizeof(uint32_t);
  return bytes;
}

Result<Index> decode_index(const IndexMeta& meta, std::span<const std::byte> payload, uint64_t max_bytes,
                           uint64_t offset) {
  const bool adds_up = meta.catalogue_bytes <= payload.size() && meta.catalogue_bytes % 8 == 0 &&
                       meta.contents_bytes == payload.size() - meta.catalogue_bytes;
  if (!adds_up) return bad("the lengths of its parts do not add up");
  Index index;
  const auto done =
      decode_bounded(payload, max_bytes, [&](MemoryBudget& budget, std::vector<Lease>& kept) -> Result<void> {
        FOREBAY_CHECK(decode_catalogue(payload.first(meta.catalogue_bytes), budget, kept, index));
        return decode_contents(payload.subspan(meta.catalogue_bytes), offset, budget, kept, index);
      });
  if (!done) return std::unexpected(done.error());
  return index;
}

Result<Index> decode_head(std::span<const std::byte> payload, uint64_t max_bytes) {
  Index index;
  FOREBAY_CHECK(decode_bounded(payload, max_bytes, [&](MemoryBudget& budget, std::vector<Lease>& kept) {
    return decode_catalogue(payload, budget, kept, index);
  }));
  return index;
}

}  // namespace forebay::container
