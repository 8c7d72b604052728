#include "container/characteristics_codec.h"

#include <algorithm>
#include <bit>

namespace forebay::container {

namespace {

// The variables by key, each key's in their order: values of one kind lie side by side and their exponents compress.
std::vector<uint32_t> key_order(std::span<const VariableFacts> facts) {
  std::vector<uint32_t> order(facts.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(facts[i].key, i); });
  return order;
}

// Whether minima and maxima of this type are binary32 numbers.
bool is_narrow(const DataType& type) { return type.kind == Kind::floating && type.size <= 4; }

bool fits_narrow(double value) {
  return std::bit_cast<uint64_t>(static_cast<double>(static_cast<float>(value))) == std::bit_cast<uint64_t>(value);
}

uint64_t narrow_bits(double value) { return std::bit_cast<uint32_t>(static_cast<float>(value)); }
double from_narrow_bits(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
uint64_t wide_bits(double value) { return std::bit_cast<uint64_t>(value); }
double from_wide_bits(uint64_t bits) { return std::bit_cast<double>(bits); }

uint64_t expected_count(const VariableFacts& facts, const Characteristics& values) {
  return facts.elements - values.nans - values.infinities - values.holes;
}

struct ValueColumns {
  Values narrow_minima, narrow_maxima, minima, maxima, sums, sums_of_squares;
};

ValueColumns value_columns(std::span<const Characteristics> all, std::span<const VariableFacts> facts,
                           std::span<const uint32_t> order, bool wide) {
  ValueColumns columns;
  for (const uint32_t i : order) {
    if (all[i].count == 0) continue;
    if (is_narrow(facts[i].type) && !wide) {
      columns.narrow_minima.push_back(narrow_bits(all[i].min));
      columns.narrow_maxima.push_back(narrow_bits(all[i].max));
    } else {
      columns.minima.push_back(wide_bits(all[i].min));
      columns.maxima.push_back(wide_bits(all[i].max));
    }
    columns.sums.push_back(wide_bits(all[i].sum));
    columns.sums_of_squares.push_back(wide_bits(all[i].sum_of_squares));
  }
  return columns;
}

bool needs_wide(std::span<const Characteristics> all, std::span<const VariableFacts> facts) {
  for (size_t i = 0; i < all.size(); ++i)
    if (is_narrow(facts[i].type) && !(fits_narrow(all[i].min) && fits_narrow(all[i].max))) return true;
  return false;
}

// Hands out a column's values one after another.
class Feed {
 public:
  Result<void> open(ColumnReader& in, const fb::Column* column, uint64_t count, uint64_t max = UINT64_MAX) {
    FOREBAY_TRY(column_, in.get(column, count, max));
    return {};
  }
  uint64_t next() { return column_[at_++]; }

 private:
  Decoded<uint64_t> column_;
  size_t at_ = 0;
};

Result<void> get_counts(const fb::Contents& table, ColumnReader& in, std::span<const VariableFacts> facts,
                        std::span<const uint32_t> order, std::span<Characteristics> all) {
  Feed nans, infinities, holes, residuals;
  const bool has_holes = in.count(table.holes()) != 0;
  FOREBAY_CHECK(nans.open(in, table.nans(), all.size()));
  FOREBAY_CHECK(infinities.open(in, table.infinities(), all.size()));
  FOREBAY_CHECK(residuals.open(in, table.count_residuals(), all.size()));
  if (has_holes) FOREBAY_CHECK(holes.open(in, table.holes(), all.size()));
  for (const uint32_t i : order) {
    all[i].nans = nans.next();
    all[i].infinities = infinities.next();
    if (has_holes) all[i].holes = holes.next();
    all[i].count = expected_count(facts[i], all[i]) + unzigzag(residuals.next());
  }
  return {};
}

Result<void> get_values(const fb::Contents& table, ColumnReader& in, std::span<const VariableFacts> facts,
                        std::span<const uint32_t> order, std::span<Characteristics> all) {
  const auto narrow = [&](uint32_t i) { return is_narrow(facts[i].type) && !table.wide(); };
  const auto counted = [&](uint32_t i) { return all[i].count != 0; };
  const auto total = static_cast<uint64_t>(std::ranges::count_if(order, counted));
  const auto narrow_total =
      static_cast<uint64_t>(std::ranges::count_if(order, [&](uint32_t i) { return counted(i) && narrow(i); }));
  Feed narrow_minima, narrow_maxima, minima, maxima, sums, squares;
  FOREBAY_CHECK(narrow_minima.open(in, table.narrow_minima(), narrow_total, UINT32_MAX));
  FOREBAY_CHECK(narrow_maxima.open(in, table.narrow_maxima(), narrow_total, UINT32_MAX));
  FOREBAY_CHECK(minima.open(in, table.minima(), total - narrow_total));
  FOREBAY_CHECK(maxima.open(in, table.maxima(), total - narrow_total));
  FOREBAY_CHECK(sums.open(in, table.sums(), total));
  FOREBAY_CHECK(squares.open(in, table.sums_of_squares(), total));
  for (const uint32_t i : order) {
    if (!counted(i)) continue;
    all[i].min = narrow(i) ? from_narrow_bits(narrow_minima.next()) : from_wide_bits(minima.next());
    all[i].max = narrow(i) ? from_narrow_bits(narrow_maxima.next()) : from_wide_bits(maxima.next());
    all[i].sum = from_wide_bits(sums.next());
    all[i].sum_of_squares = from_wide_bits(squares.next());
  }
  return {};
}

}  // namespace

CharacteristicsColumns put_characteristics(ColumnWriter& out, std::span<const Characteristics> all,
                                           std::span<const VariableFacts> facts) {
  CharacteristicsColumns columns{.present = !all.empty(), .wide = needs_wide(all, facts)};
  const std::vector<uint32_t> order = all.empty() ? std::vector<uint32_t>() : key_order(facts);
  Values nans, infinities, holes, residuals;
  for (const uint32_t i : order) {
    nans.push_back(all[i].nans);
    infinities.push_back(all[i].infinities);
    holes.push_back(all[i].holes);
    residuals.push_back(zigzag(all[i].count - expected_count(facts[i], all[i])));
  }
  columns.nans = out.put(nans);
  columns.infinities = out.put(infinities);
  columns.count_residuals = out.put(residuals);
  columns.has_holes = std::ranges::any_of(holes, [](uint64_t count) { return count != 0; });
  if (columns.has_holes) columns.holes = out.put(holes);
  const ValueColumns values = value_columns(all, facts, order, columns.wide);
  columns.narrow_minima = out.put(values.narrow_minima);
  columns.narrow_maxima = out.put(values.narrow_maxima);
  columns.minima = out.put(values.minima);
  columns.maxima = out.put(values.maxima);
  columns.sums = out.put(values.sums);
  columns.sums_of_squares = out.put(values.sums_of_squares);
  return columns;
}

void add_characteristics(fb::ContentsBuilder& table, const CharacteristicsColumns& columns) {
  table.add_has_characteristics(columns.present);
  table.add_wide(columns.wide);
  table.add_nans(columns.nans);
  table.add_infinities(columns.infinities);
  table.add_count_residuals(columns.count_residuals);
  if (columns.has_holes) table.add_holes(columns.holes);
  table.add_narrow_minima(columns.narrow_minima);
  table.add_narrow_maxima(columns.narrow_maxima);
  table.add_minima(columns.minima);
  table.add_maxima(columns.maxima);
  table.add_sums(columns.sums);
  table.add_sums_of_squares(columns.sums_of_squares);
}

Result<void> get_characteristics(const fb::Contents& table, ColumnReader& in, std::vector<Lease>& kept, Index& index) {
  if (!table.has_characteristics()) return {};
  const size_t count = index.catalogue.variables.size();
  // Asked for first, so that a column that is too short costs nothing.
  if (in.count(table.nans()) != count) return bad("the characteristics are not one per variable");
  FOREBAY_TRY(Lease rows, in.lease(count, sizeof(Characteristics)));
  kept.push_back(std::move(rows));
  FOREBAY_TRY(const Lease work, in.lease(count, sizeof(VariableFacts) + 2 * sizeof(uint32_t)));
  const std::vector<VariableFacts> facts = facts_of(index.catalogue);
  const std::vector<uint32_t> order = key_order(facts);
  index.characteristics.resize(count);
  FOREBAY_CHECK(get_counts(table, in, facts, order, index.characteristics));
  return get_values(table, in, facts, order, index.characteristics);
}

}  // namespace forebay::container
