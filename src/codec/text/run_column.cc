#include "codec/text/run_column.h"

#include <algorithm>

namespace forebay::codec::text {
namespace {

const Column* column_of(const Earlier& earlier, size_t number) {
  return earlier.table == nullptr ? nullptr : &earlier.table->columns[number];
}

// The keys of the earlier run, if they are of the same format.
const uint64_t* keys_of(const Earlier& earlier, size_t number, const Format& format) {
  const Column* const column = column_of(earlier, number);
  if (column == nullptr || column->format != format) return nullptr;
  return reinterpret_cast<const uint64_t*>(column->keys.data()) + earlier.first;
}

}  // namespace

RunColumn::RunColumn(Table& table, const Run& run, size_t column, const History& history, size_t lag,
                     std::span<const int32_t> by_id, bool is_known)
    : column_(table.columns[column]),
      number_(column),
      first_(run.first),
      rows_(run.rows),
      history_(history),
      is_known_(is_known) {
  keys_.run = run_keys();
  keys_.has_row_above = first_ > 0;
  keys_.lag = lag;
  keys_.before = keys_of(history.last, column, format());
  keys_.second = keys_of(history.second, column, format());
  keys_.by_id = by_id.empty() ? nullptr : by_id.data();
  values_.lag = lag;
  values_.has_row_above = keys_.has_row_above;
  values_.by_id = keys_.by_id;
}

std::vector<double> RunColumn::values_of(const Earlier& earlier) const {
  const Column* const column = column_of(earlier, number_);
  if (column == nullptr || !column->format.has_exponents()) return {};
  std::vector<double> values(rows_);
  for (size_t i = 0; i < rows_; ++i) values[i] = value_of(column->keys[earlier.first + i], column->format);
  return values;
}

const Neighbours<double>& RunColumn::values() {
  if (!own_.empty()) return values_;
  own_.resize(rows_ + 1);
  if (first_ > 0) own_[0] = value_of(column_.keys[first_ - 1], format());
  for (size_t i = 0; is_known_ && i < rows_; ++i) own_[i + 1] = value_of(column_.keys[first_ + i], format());
  before_ = values_of(history_.last);
  second_ = values_of(history_.second);
  values_.run = own_.data() + 1;
  values_.before = before_.empty() ? nullptr : before_.data();
  values_.second = second_.empty() ? nullptr : second_.data();
  return values_;
}

bool RunColumn::allows(const Choice& choice) {
  if (!choice.in_values) return keys_.allows(choice.predictor);
  return has_values() && values().allows(choice.predictor);
}

void RunColumn::take_residuals(const Choice& choice, std::vector<uint64_t>& residuals) {
  const uint64_t* const keys = run_keys();
  if (choice.in_values) values();
  with_predictor(choice.predictor, [&]<Predictor p>() {
    if (choice.in_values) {
      for (size_t k = 0; k < rows_; ++k)
        residuals.push_back(zigzag(keys[k] - static_cast<uint64_t>(nearest_key(predict<p>(values_, k), format()))));
    } else {
      for (size_t k = 0; k < rows_; ++k) residuals.push_back(zigzag(keys[k] - predict<p>(keys_, k)));
    }
  });
}

void RunColumn::undo_residuals(const Choice& choice) {
  uint64_t* const keys = run_keys();
  if (choice.in_values) values();
  with_predictor(choice.predictor, [&]<Predictor p>() {
    for (size_t k = 0; k < rows_; ++k) {
      if (choice.in_values) {
        keys[k] = static_cast<uint64_t>(nearest_key(predict<p>(values_, k), format())) + unzigzag(keys[k]);
        own_[k + 1] = value_of(static_cast<int64_t>(keys[k]), format());
      } else {
        keys[k] = predict<p>(keys_, k) + unzigzag(keys[k]);
      }
    }
  });
}

}  // namespace forebay::codec::text
