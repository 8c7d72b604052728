// Weighted linear least squares with forward selection of columns.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace forebay::codec {

// The inner products of some columns and a target over weighted rows, scaled to unit columns.
class NormalEquations {
 public:
  // All columns, `target` and `weights` have the same number of rows.
  NormalEquations(std::span<const std::span<const double>> columns, std::span<const double> target,
                  std::span<const double> weights);

  struct Solution {
    std::vector<size_t> columns;       // in the order in which they were selected
    std::vector<double> coefficients;  // one per column
  };

  // Adds one column after the other, each the one that explains most of what is left of the target among those that
  // may_add(selected so far, column) allows, and calls visit() with each solution. Stops when none helps, or visit()
  // says that it has seen enough (false).
  void select(size_t max_columns, const std::function<bool(std::span<const size_t>, size_t)>& may_add,
              const std::function<bool(const Solution&)>& visit) const;

 private:
  size_t size_ = 0;             // columns and the target
  std::vector<double> matrix_;  // size_ x size_, the target last
  std::vector<double> scale_;   // by which a column was multiplied
};

}  // namespace forebay::codec
