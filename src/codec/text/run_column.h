// One column of a run, with what it may be predicted from.
#pragma once

#include <span>
#include <vector>

#include "codec/text/predict.h"
#include "codec/text/table.h"

namespace forebay::codec::text {

// How a run's column is predicted.
struct Choice {
  Predictor predictor = Predictor::above;
  bool in_values = false;  // else in keys
};

constexpr uint64_t zigzag(uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }
constexpr uint64_t unzigzag(uint64_t code) { return code >> 1 ^ (0 - (code & 1)); }

class RunColumn {
 public:
  // All of these must stay. `by_id` is empty if there are no ids, or for the column that has them. `is_known`: the
  // run's keys are.
  RunColumn(Table& table, const Run& run, size_t column, const History& history, size_t lag,
            std::span<const int32_t> by_id, bool is_known);

  size_t rows() const { return rows_; }
  const Format& format() const { return column_.format; }

  Neighbours<uint64_t> keys() const { return keys_; }

  // For columns that have_values(): their format has exponents. The run's own are 0 where its keys are not known.
  bool has_values() const { return column_.format.has_exponents(); }
  const Neighbours<double>& values();

  bool allows(const Choice& choice);

  // What the choice's predictor leaves of the known keys, appended to `residuals`; and the inverse, where residuals
  // stand in the place of the keys. The column allows() the choice.
  void take_residuals(const Choice& choice, std::vector<uint64_t>& residuals);
  void undo_residuals(const Choice& choice);

 private:
  std::vector<double> values_of(const Earlier& earlier) const;
  uint64_t* run_keys() { return reinterpret_cast<uint64_t*>(column_.keys.data()) + first_; }

  Column& column_;
  const size_t number_, first_, rows_;
  const History history_;
  const bool is_known_;
  Neighbours<uint64_t> keys_;
  Neighbours<double> values_;
  std::vector<double> own_, before_, second_;
};

}  // namespace forebay::codec::text
