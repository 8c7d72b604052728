#include "container/part_list.h"

#include <algorithm>
#include <bit>

#include "container/bounded.h"
#include "container/column.h"
#include "container/format.h"

namespace forebay::container {

namespace {

constexpr uint64_t kHasStep = 1, kHasTime = 2;

std::unexpected<Error> bad(const char* what) { return fail(ErrorKind::corrupt, std::string("list of parts: ") + what); }

// What a reader takes for so many parts at most.
uint64_t unfolded_bytes(uint64_t parts) { return parts * (sizeof(PartEntry) + 7 * (sizeof(uint64_t) + 1)); }

Result<void> decode_moments(const fb::Parts& table, ColumnReader& in, std::vector<PartEntry>& parts) {
  FOREBAY_TRY(const auto flags, in.get(table.flags(), parts.size(), kHasStep | kHasTime));
  const auto with = [&](uint64_t flag) {
    return static_cast<uint64_t>(std::ranges::count_if(flags.values, [&](uint64_t f) { return (f & flag) != 0; }));
  };
  FOREBAY_TRY(const auto steps, in.get_deltas(table.steps(), with(kHasStep)));
  FOREBAY_TRY(const auto times, in.get(table.times(), with(kHasTime)));
  size_t next_step = 0, next_time = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if ((flags[i] & kHasStep) != 0) parts[i].moment.step = steps[next_step++];
    if ((flags[i] & kHasTime) != 0) parts[i].moment.time = std::bit_cast<double>(times[next_time++]);
    if (!parts[i].moment.is_valid()) return bad("the time of a part is no number");
  }
  return {};
}

// Each part has room for a head, and ends before the next one begins.
Result<void> check_places(std::span<const PartEntry> parts, uint64_t end) {
  if (parts.empty()) return bad("there is none");
  if (parts[0].offset != kFileHeaderBytes) return bad("the first one is not where the container begins");
  uint64_t free_from = kFileHeaderBytes;
  for (const PartEntry& part : parts) {
    const bool inside = part.offset >= free_from && part.offset < end && part.index_offset < end &&
                        part.index_bytes <= end - part.index_offset;
    const bool in_order = part.index_offset >= part.offset && part.index_offset - part.offset >= kRecordHeaderBytes &&
                          part.index_bytes >= kRecordHeaderBytes;
    if (!inside || !in_order) return bad("a part lies where it cannot");
    free_from = part.end();
  }
  return {};
}

}  // namespace

Result<Bytes> encode_parts(std::span<const PartEntry> parts) {
  ColumnWriter out;
  const auto offsets = out.put_deltas(column_of(parts, [](const PartEntry& p) { return p.offset; }));
  const auto index_offsets = out.put_deltas(column_of(parts, [](const PartEntry& p) { return p.index_offset; }));
  const auto index_bytes = out.put(column_of(parts, [](const PartEntry& p) { return p.index_bytes; }));
  const auto index_hashes = out.put(column_of(parts, [](const PartEntry& p) { return p.index_hash; }));
  const auto flags = out.put(column_of(
      parts, [](const PartEntry& p) { return (p.moment.step ? kHasStep : 0) + (p.moment.time ? kHasTime : 0); }));
  Values step_values, time_values;
  for (const PartEntry& part : parts) {
    if (part.moment.step) step_values.push_back(*part.moment.step);
    if (part.moment.time) time_values.push_back(std::bit_cast<uint64_t>(*part.moment.time));
  }
  const auto steps = out.put_deltas(std::move(step_values));
  const auto times = out.put(time_values);
  fb::PartsBuilder table(out.builder());
  table.add_offsets(offsets);
  table.add_index_offsets(index_offsets);
  table.add_index_bytes(index_bytes);
  table.add_index_hashes(index_hashes);
  table.add_flags(flags);
  table.add_steps(steps);
  table.add_times(times);
  FOREBAY_TRY(Bytes bytes, out.finish(table.Finish()));
  pad_to_unfold(bytes, unfolded_bytes(parts.size()));
  return bytes;
}

Result<std::vector<PartEntry>> decode_parts(std::span<const std::byte> bytes, uint64_t end, uint64_t max_bytes) {
  std::vector<PartEntry> parts;
  const auto decode = [&](MemoryBudget& budget, std::vector<Lease>& kept) -> Result<void> {
    FOREBAY_TRY(const fb::Parts* table, verified_root<fb::Parts>(bytes));
    ColumnReader in(budget);
    const uint64_t count = in.count(table->offsets());
    FOREBAY_TRY(Lease rows, in.lease(count, sizeof(PartEntry)));
    kept.push_back(std::move(rows));
    FOREBAY_TRY(const auto offsets, in.get_deltas(table->offsets(), count));
    FOREBAY_TRY(const auto index_offsets, in.get_deltas(table->index_offsets(), count));
    FOREBAY_TRY(const auto index_bytes, in.get(table->index_bytes(), count));
    FOREBAY_TRY(const auto index_hashes, in.get(table->index_hashes(), count));
    parts.resize(count);
    for (size_t i = 0; i < count; ++i)
      parts[i] = {.offset = offsets[i],
                  .index_offset = index_offsets[i],
                  .index_bytes = index_bytes[i],
                  .index_hash = index_hashes[i],
                  .moment = {}};
    FOREBAY_CHECK(decode_moments(*table, in, parts));
    return check_places(parts, end);
  };
  FOREBAY_CHECK(decode_bounded(bytes, max_bytes, decode));
  return parts;
}

}  // namespace forebay::container
