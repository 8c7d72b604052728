#include "codec/text/table.h"

#include <algorithm>

namespace forebay::codec::text {

void TablesBefore::start_section(size_t begin) {
  section_ = begin;
  while (!tables_.empty() && tables_.front().section + reach_ < begin) tables_.pop_front();
}

Table& TablesBefore::add(Table table) { return tables_.emplace_back(section_, std::move(table)).table; }

Earlier TablesBefore::if_in_reach(const Earlier& earlier) const {
  return earlier.section + reach_ < section_ ? Earlier{} : earlier;
}

History TablesBefore::follow(size_t numbers, const Table& table, size_t first, size_t rows) {
  if (rows < kLeastChosenRows) return {};
  History& history = by_size_[{numbers, rows}];
  const History before{if_in_reach(history.last), if_in_reach(history.second)};
  history = {{&table, first, section_}, before.last};
  return before;
}

std::vector<int32_t> rows_by_id(const Table& table, size_t first, size_t rows, const Earlier& earlier) {
  constexpr size_t kMostIdsPerRow = 8;
  if (earlier.table == nullptr || table.columns.size() < 2) return {};
  const auto is_integer = [](const Table& of) { return of.columns.front().format.notation == Notation::integer; };
  if (!is_integer(table) || !is_integer(*earlier.table)) return {};
  const auto ids = std::span(table.columns.front().keys).subspan(first, rows);
  const auto before = std::span(earlier.table->columns.front().keys).subspan(earlier.first, rows);
  const auto is_id = [&](int64_t id) { return id >= 0 && static_cast<uint64_t>(id) <= kMostIdsPerRow * rows; };
  if (!std::ranges::all_of(ids, is_id) || !std::ranges::all_of(before, is_id)) return {};
  std::vector<int32_t> places(kMostIdsPerRow * rows + 1, -1);
  for (size_t row = 0; row < rows; ++row) places[static_cast<size_t>(before[row])] = static_cast<int32_t>(row);
  std::vector<int32_t> result(rows);
  std::ranges::transform(ids, result.begin(), [&](int64_t id) { return places[static_cast<size_t>(id)]; });
  return result;
}

}  // namespace forebay::codec::text
