#include <algorithm>
#include <tuple>

#include "container/bounded.h"
#include "container/unfolding.h"
#include "io/file/columns.h"
#include "io/file/listing.h"
#include "process_group_generated.h"

namespace forebay::io {
namespace {

using container::unzigzag;
using container::zigzag;

constexpr uint64_t kFortran = 1, kArray = 1;

uint64_t bits_of(double value) { return std::bit_cast<uint64_t>(value); }

std::vector<std::vector<const ListedPart*>> parts_by_pattern(const Listing& listing) {
  std::vector<std::vector<const ListedPart*>> by_pattern(listing.patterns.size());
  for (const ListedPart& part : listing.parts) by_pattern[part.pattern].push_back(&part);
  return by_pattern;
}

// Number after number of a pattern, since the same number of one rank and the next mostly differ by little.
Values place_column(const Listing& listing) {
  Values values;
  values.reserve(listing.places.size());
  const auto by_pattern = parts_by_pattern(listing);
  for (size_t p = 0; p < by_pattern.size(); ++p) {
    const uint64_t numbers = listing.patterns[p].numbers();
    for (uint64_t k = 0; k < numbers; ++k)
      for (const ListedPart* part : by_pattern[p]) values.push_back(listing.places[part->first_place + k]);
  }
  return values;
}

// The columns of a listing while its FlatBuffer is built: all of them must exist before the table begins.
class ListingWriter {
 public:
  explicit ListingWriter(const Listing& listing) : listing_(listing), out_(container::Effort::quick) {}

  Result<Bytes> write() {
    put_names();
    put_patterns();
    put_parts();
    put_characteristics();
    const auto attribute_columns = put_listed_attributes();
    fb::ListingBuilder table(out_.builder());
    for (const auto& [add, column] : columns_) (table.*add)(column);
    for (const auto& [add, texts] : texts_) (table.*add)(texts);
    add_attributes(table, attribute_columns);
    return out_.finish(table.Finish());
  }

 private:
  using Table = fb::ListingBuilder;
  using AddColumn = void (Table::*)(ColumnWriter::Column);
  using AddTexts = void (Table::*)(ColumnWriter::Texts);

  void put(AddColumn add, const Values& values) { columns_.emplace_back(add, out_.put(values)); }
  void put_deltas(AddColumn add, Values values) { columns_.emplace_back(add, out_.put_deltas(std::move(values))); }
  void put(AddTexts add, std::span<const std::string> texts) { texts_.emplace_back(add, out_.put(texts)); }

  void put_names() {
    const auto& files = listing_.files;
    const auto& groups = listing_.groups;
    const auto& variables = listing_.variables;
    put(&Table::add_file_names, texts_of(files, [](const ListedFile& f) { return f.name; }));
    put(&Table::add_file_containers, column_of(files, [](const ListedFile& f) { return f.container_id; }));
    put(&Table::add_group_names, texts_of(groups, [](const ListedGroup& g) { return g.name; }));
    put(&Table::add_group_time_indices, texts_of(groups, [](const ListedGroup& g) { return g.time_index_name; }));
    put(&Table::add_group_flags,
        column_of(groups, [](const ListedGroup& g) { return g.fortran_order ? kFortran : 0; }));
    put(&Table::add_variable_names, texts_of(variables, [](const ListedVariable& v) { return v.name; }));
    put(&Table::add_variable_groups, column_of(variables, [](const ListedVariable& v) { return v.group; }));
    put(&Table::add_variable_types, column_of(variables, [](const ListedVariable& v) { return v.type; }));
    put(&Table::add_variable_flags,
        column_of(variables, [](const ListedVariable& v) { return v.is_array ? kArray : 0; }));
    SharedTexts transforms;
    put(&Table::add_variable_transforms,
        column_of(variables, [&](const ListedVariable& v) { return transforms.add(v.transform); }));
    put(&Table::add_transform_texts, transforms.texts);
  }

  void put_patterns() {
    const auto& patterns = listing_.patterns;
    put(&Table::add_pattern_groups, column_of(patterns, [](const Pattern& p) { return p.group; }));
    put(&Table::add_pattern_slots, column_of(patterns, [](const Pattern& p) { return p.slots.size(); }));
    put(&Table::add_pattern_writes, column_of(patterns, [](const Pattern& p) { return p.writes.size(); }));
    Values slots, variables, write_slots;
    for (const Pattern& pattern : patterns) {
      for (const Pattern::Slot& slot : pattern.slots) slots.push_back(2 * uint64_t{slot.rank} + slot.is_global);
      for (const Pattern::Write& write : pattern.writes) {
        variables.push_back(write.variable);
        write_slots.push_back(write.slot);
      }
    }
    put(&Table::add_slots, slots);
    put_deltas(&Table::add_write_variables, std::move(variables));
    put(&Table::add_write_slots, write_slots);
  }

  void put_parts() {
    const auto& parts = listing_.parts;
    put(&Table::add_part_patterns, column_of(parts, [](const ListedPart& p) { return p.pattern; }));
    put_deltas(&Table::add_part_ranks, column_of(parts, [](const ListedPart& p) { return p.rank; }));
    put_deltas(&Table::add_part_steps, column_of(parts, [](const ListedPart& p) { return p.step; }));
    put_deltas(&Table::add_part_time_indices, column_of(parts, [](const ListedPart& p) { return p.time_index; }));
    put_deltas(&Table::add_part_files, column_of(parts, [](const ListedPart& p) { return p.file; }));
    uint64_t end = 0;
    put(&Table::add_part_gaps, column_of(parts, [&](const ListedPart& p) {
      const uint64_t gap = zigzag(p.offset - end);
      end = p.offset + p.bytes;
      return gap;
    }));
    put_deltas(&Table::add_part_bytes, column_of(parts, [](const ListedPart& p) { return p.bytes; }));
    put_deltas(&Table::add_part_index_bytes, column_of(parts, [](const ListedPart& p) { return p.index_bytes; }));
    put(&Table::add_part_index_hashes, column_of(parts, [](const ListedPart& p) { return p.index_hash; }));
    put_deltas(&Table::add_places, place_column(listing_));
  }

  void put_characteristics() {
    const auto& rows = listing_.characteristics;
    using Row = StepCharacteristics;
    put_deltas(&Table::add_summary_steps, column_of(rows, [](const Row& r) { return r.step; }));
    put_deltas(&Table::add_summary_variables, column_of(rows, [](const Row& r) { return r.variable; }));
    put(&Table::add_summary_blocks, column_of(rows, [](const Row& r) { return r.blocks; }));
    put(&Table::add_counts, column_of(rows, [](const Row& r) { return r.values.count; }));
    put(&Table::add_nans, column_of(rows, [](const Row& r) { return r.values.nans; }));
    put(&Table::add_infinities, column_of(rows, [](const Row& r) { return r.values.infinities; }));
    put(&Table::add_minima, column_of(rows, [](const Row& r) { return bits_of(r.values.min); }));
    put(&Table::add_maxima, column_of(rows, [](const Row& r) { return bits_of(r.values.max); }));
    put(&Table::add_sums, column_of(rows, [](const Row& r) { return bits_of(r.values.sum); }));
    put(&Table::add_sums_of_squares, column_of(rows, [](const Row& r) { return bits_of(r.values.sum_of_squares); }));
  }

  AttributeColumns put_listed_attributes() {
    const auto& attributes = listing_.attributes;
    put(&Table::add_attribute_groups, column_of(attributes, [](const ListedAttribute& a) { return a.group; }));
    put(&Table::add_attribute_steps, column_of(attributes, [](const ListedAttribute& a) { return a.step; }));
    std::vector<const AttributeValue*> values;
    for (const ListedAttribute& attribute : attributes) values.push_back(&attribute.value);
    return put_attributes(out_, values);
  }

  const Listing& listing_;
  ColumnWriter out_;
  std::vector<std::pair<AddColumn, ColumnWriter::Column>> columns_;
  std::vector<std::pair<AddTexts, ColumnWriter::Texts>> texts_;
};

class ListingReader {
 public:
  ListingReader(const fb::Listing& table, MemoryBudget& budget, std::vector<Lease>& kept)
      : table_(table), in_(budget, kept) {}

  Result<Listing> read() {
    FOREBAY_CHECK(read_files_and_groups());
    FOREBAY_CHECK(read_variables());
    FOREBAY_CHECK(read_patterns());
    FOREBAY_CHECK(read_parts());
    FOREBAY_CHECK(read_places());
    FOREBAY_CHECK(read_characteristics());
    FOREBAY_CHECK(read_attributes());
    FOREBAY_CHECK(listing_.validate());
    return std::move(listing_);
  }

 private:
  Result<void> read_files_and_groups() {
    FOREBAY_TRY(auto names, in_.get(table_.file_names()));
    FOREBAY_TRY(const auto ids, in_.get(table_.file_containers(), names.size()));
    FOREBAY_CHECK(in_.keep(names.size(), sizeof(ListedFile)));
    for (size_t i = 0; i < names.size(); ++i) listing_.files.push_back({std::move(names[i]), ids[i]});
    FOREBAY_TRY(auto groups, in_.get(table_.group_names()));
    FOREBAY_TRY(auto indices, in_.get(table_.group_time_indices(), groups.size()));
    FOREBAY_TRY(const auto flags, in_.get(table_.group_flags(), groups.size(), kFortran));
    FOREBAY_CHECK(in_.keep(groups.size(), sizeof(ListedGroup)));
    for (size_t i = 0; i < groups.size(); ++i)
      listing_.groups.push_back({std::move(groups[i]), std::move(indices[i]), flags[i] != 0});
    return {};
  }

  Result<void> read_variables() {
    FOREBAY_TRY(auto names, in_.get(table_.variable_names()));
    const size_t count = names.size();
    FOREBAY_TRY(const auto groups, in_.get(table_.variable_groups(), count, UINT32_MAX));
    FOREBAY_TRY(const auto types, in_.get(table_.variable_types(), count));
    FOREBAY_TRY(const auto flags, in_.get(table_.variable_flags(), count, kArray));
    FOREBAY_TRY(const auto texts, in_.get(table_.transform_texts()));
    FOREBAY_TRY(const auto transforms, in_.get(table_.variable_transforms(), count, texts.size()));
    FOREBAY_CHECK(in_.keep(count, sizeof(ListedVariable)));
    for (size_t i = 0; i < count; ++i) {
      FOREBAY_TRY(const ValueType type, type_of(types[i]));
      if (transforms[i] != 0) {
        FOREBAY_CHECK(in_.keep(texts[transforms[i] - 1].size(), 1));
      }
      listing_.variables.push_back({.group = static_cast<uint32_t>(groups[i]),
                                    .name = std::move(names[i]),
                                    .type = type,
                                    .is_array = flags[i] != 0,
                                    .transform = transforms[i] == 0 ? "" : texts[transforms[i] - 1]});
    }
    return {};
  }

  Result<void> read_patterns() {
    const uint64_t count = in_.count(table_.pattern_groups());
    FOREBAY_TRY(const auto groups, in_.get(table_.pattern_groups(), count, UINT32_MAX));
    FOREBAY_TRY(const auto slot_counts, in_.get(table_.pattern_slots(), count));
    FOREBAY_TRY(const auto write_counts, in_.get(table_.pattern_writes(), count));
    FOREBAY_TRY(const uint64_t slot_total, in_.sum(slot_counts));
    FOREBAY_TRY(const uint64_t write_total, in_.sum(write_counts));
    FOREBAY_TRY(const auto slots, in_.get(table_.slots(), slot_total, 2 * kMaxDims + 1));
    FOREBAY_TRY(const auto variables, in_.get_deltas(table_.write_variables(), write_total, UINT32_MAX));
    FOREBAY_TRY(const auto write_slots, in_.get(table_.write_slots(), write_total, UINT32_MAX));
    FOREBAY_CHECK(in_.keep(count, sizeof(Pattern)));
    FOREBAY_CHECK(in_.keep(slot_total, sizeof(Pattern::Slot)));
    FOREBAY_CHECK(in_.keep(write_total, sizeof(Pattern::Write)));
    listing_.patterns.resize(count);
    size_t next_slot = 0, next_write = 0;
    for (size_t i = 0; i < count; ++i) {
      Pattern& pattern = listing_.patterns[i];
      pattern.group = static_cast<uint32_t>(groups[i]);
      for (uint64_t k = 0; k < slot_counts[i]; ++k, ++next_slot)
        pattern.slots.push_back({static_cast<uint8_t>(slots[next_slot] / 2), slots[next_slot] % 2 != 0});
      for (uint64_t k = 0; k < write_counts[i]; ++k, ++next_write)
        pattern.writes.push_back(
            {static_cast<uint32_t>(variables[next_write]), static_cast<uint32_t>(write_slots[next_write])});
    }
    return {};
  }

  Result<void> read_parts() {
    const uint64_t count = in_.count(table_.part_patterns());
    FOREBAY_CHECK(in_.keep(count, sizeof(ListedPart)));
    auto& parts = listing_.parts;
    parts.resize(count);
    const auto fill = [&](Result<std::vector<uint64_t>> values, auto assign) -> Result<void> {
      if (!values) return std::unexpected(values.error());
      for (size_t i = 0; i < count; ++i) assign(parts[i], (*values)[i]);
      return {};
    };
    using Part = ListedPart;
    FOREBAY_CHECK(fill(in_.get(table_.part_patterns(), count, UINT32_MAX),
                       [](Part& p, uint64_t v) { p.pattern = static_cast<uint32_t>(v); }));
    FOREBAY_CHECK(fill(in_.get_deltas(table_.part_ranks(), count, UINT32_MAX),
                       [](Part& p, uint64_t v) { p.rank = static_cast<uint32_t>(v); }));
    FOREBAY_CHECK(fill(in_.get_deltas(table_.part_steps(), count), [](Part& p, uint64_t v) { p.step = v; }));
    FOREBAY_CHECK(fill(in_.get_deltas(table_.part_time_indices(), count, UINT32_MAX),
                       [](Part& p, uint64_t v) { p.time_index = static_cast<uint32_t>(v); }));
    FOREBAY_CHECK(fill(in_.get_deltas(table_.part_files(), count, UINT32_MAX),
                       [](Part& p, uint64_t v) { p.file = static_cast<uint32_t>(v); }));
    FOREBAY_CHECK(fill(in_.get_deltas(table_.part_bytes(), count), [](Part& p, uint64_t v) { p.bytes = v; }));
    FOREBAY_CHECK(
        fill(in_.get_deltas(table_.part_index_bytes(), count), [](Part& p, uint64_t v) { p.index_bytes = v; }));
    FOREBAY_CHECK(fill(in_.get(table_.part_index_hashes(), count), [](Part& p, uint64_t v) { p.index_hash = v; }));
    uint64_t end = 0;
    return fill(in_.get(table_.part_gaps(), count), [&](Part& p, uint64_t v) {
      p.offset = end + unzigzag(v);
      end = p.offset + p.bytes;
    });
  }

  Result<void> read_places() {
    auto& parts = listing_.parts;
    const auto& patterns = listing_.patterns;
    FOREBAY_CHECK(in_.keep(patterns.size(), sizeof(std::vector<ListedPart*>)));
    FOREBAY_CHECK(in_.keep(parts.size(), 2 * sizeof(ListedPart*)));
    std::vector<uint64_t> numbers;
    for (const Pattern& pattern : patterns) numbers.push_back(pattern.numbers());
    uint64_t total = 0;
    for (ListedPart& part : parts) {
      if (part.pattern >= patterns.size()) return malformed("a pattern is not there");
      part.first_place = total;
      total += numbers[part.pattern];
      if (total >> 48 != 0) return malformed("there are too many places");
    }
    FOREBAY_TRY(const auto values, in_.get_deltas(table_.places(), total));
    FOREBAY_CHECK(in_.keep(total, sizeof(uint64_t)));
    listing_.places.resize(total);
    const auto by_pattern = parts_by_pattern(listing_);
    size_t next = 0;
    for (size_t p = 0; p < by_pattern.size(); ++p)
      for (uint64_t k = 0; k < (by_pattern[p].empty() ? 0 : numbers[p]); ++k)
        for (const ListedPart* part : by_pattern[p]) listing_.places[part->first_place + k] = values[next++];
    return {};
  }

  Result<void> read_characteristics() {
    const uint64_t count = in_.count(table_.summary_steps());
    FOREBAY_CHECK(in_.keep(count, sizeof(StepCharacteristics)));
    FOREBAY_TRY(const auto steps, in_.get_deltas(table_.summary_steps(), count));
    FOREBAY_TRY(const auto variables, in_.get_deltas(table_.summary_variables(), count, UINT32_MAX));
    FOREBAY_TRY(const auto blocks, in_.get(table_.summary_blocks(), count));
    FOREBAY_TRY(const auto counts, in_.get(table_.counts(), count));
    FOREBAY_TRY(const auto nans, in_.get(table_.nans(), count));
    FOREBAY_TRY(const auto infinities, in_.get(table_.infinities(), count));
    FOREBAY_TRY(const auto minima, in_.get(table_.minima(), count));
    FOREBAY_TRY(const auto maxima, in_.get(table_.maxima(), count));
    FOREBAY_TRY(const auto sums, in_.get(table_.sums(), count));
    FOREBAY_TRY(const auto squares, in_.get(table_.sums_of_squares(), count));
    for (size_t i = 0; i < count; ++i)
      listing_.characteristics.push_back({.step = steps[i],
                                          .variable = static_cast<uint32_t>(variables[i]),
                                          .blocks = blocks[i],
                                          .values = {.count = counts[i],
                                                     .min = std::bit_cast<double>(minima[i]),
                                                     .max = std::bit_cast<double>(maxima[i]),
                                                     .sum = std::bit_cast<double>(sums[i]),
                                                     .sum_of_squares = std::bit_cast<double>(squares[i]),
                                                     .nans = nans[i],
                                                     .infinities = infinities[i]}});
    return {};
  }

  Result<void> read_attributes() {
    FOREBAY_TRY(auto values, in_.attributes(table_));
    FOREBAY_TRY(const auto groups, in_.get(table_.attribute_groups(), values.size(), UINT32_MAX));
    FOREBAY_TRY(const auto steps, in_.get(table_.attribute_steps(), values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      listing_.attributes.push_back({static_cast<uint32_t>(groups[i]), steps[i], std::move(values[i])});
    return {};
  }

  const fb::Listing& table_;
  TableReader in_;
  Listing listing_;
};

}  // namespace

Result<Bytes> encode(const Listing& listing) {
  FOREBAY_TRY(Bytes bytes, ListingWriter(listing).write());
  container::pad_to_unfold(bytes, 4 * listing.memory_bytes());
  return bytes;
}

Result<Listing> decode_listing(std::span<const std::byte> bytes, uint64_t max_bytes) {
  Listing listing;
  const auto done =
      container::decode_bounded(bytes, max_bytes, [&](MemoryBudget& budget, std::vector<Lease>& kept) -> Result<void> {
        FOREBAY_TRY(const fb::Listing* table, container::verified_root<fb::Listing>(bytes));
        FOREBAY_TRY(listing, ListingReader(*table, budget, kept).read());
        return {};
      });
  if (!done) return std::unexpected(done.error());
  return listing;
}

}  // namespace forebay::io
