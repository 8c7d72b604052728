#include "codec/fitted/least_squares.h"

#include <cmath>

namespace forebay::codec {
namespace {

constexpr double kLeastPivot = 1e-11;  // columns that others explain but for this part are not worth their noise

double inner_product(std::span<const double> a, std::span<const double> b) {
  constexpr size_t kLanes = 4;
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes)
    for (size_t k = 0; k < kLanes; ++k) lanes[k] += a[i + k] * b[i + k];
  for (; i < a.size(); ++i) lanes[0] += a[i] * b[i];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

// Solves for column `pivot` in place: Gauss-Jordan elimination, the pivot's own column left as the negative inverse.
void sweep(std::vector<double>& matrix, size_t size, size_t pivot) {
  const double inverse = 1 / matrix[pivot * size + pivot];
  for (size_t i = 0; i < size; ++i) {
    if (i == pivot) continue;
    const double factor = matrix[i * size + pivot] * inverse;
    for (size_t j = 0; j < size; ++j)
      if (j != pivot) matrix[i * size + j] -= factor * matrix[pivot * size + j];
    matrix[i * size + pivot] = -factor;
  }
  for (size_t j = 0; j < size; ++j)
    if (j != pivot) matrix[pivot * size + j] *= inverse;
  matrix[pivot * size + pivot] = inverse;
}

}  // namespace

NormalEquations::NormalEquations(std::span<const std::span<const double>> columns, std::span<const double> target,
                                 std::span<const double> weights)
    : size_(columns.size() + 1), matrix_(size_ * size_), scale_(size_) {
  const size_t rows = target.size();
  std::vector<double> weighted(size_ * rows);
  for (size_t c = 0; c < size_; ++c) {
    const std::span<const double> column = c < columns.size() ? columns[c] : target;
    double* to = weighted.data() + c * rows;
    for (size_t i = 0; i < rows; ++i) to[i] = column[i] * weights[i];
    const double norm = std::sqrt(inner_product({to, rows}, {to, rows}));
    scale_[c] = norm > 0 && std::isfinite(norm) ? 1 / norm : 0;
    for (size_t i = 0; i < rows; ++i) to[i] = scale_[c] > 0 ? to[i] * scale_[c] : 0;
  }
  for (size_t a = 0; a < size_; ++a)
    for (size_t b = 0; b <= a; ++b)
      matrix_[a * size_ + b] = matrix_[b * size_ + a] =
          inner_product({weighted.data() + a * rows, rows}, {weighted.data() + b * rows, rows});
}

void NormalEquations::select(size_t max_columns, const std::function<bool(std::span<const size_t>, size_t)>& may_add,
                             const std::function<bool(const Solution&)>& visit) const {
  const size_t target = size_ - 1;
  if (scale_[target] == 0) return;
  std::vector<double> matrix = matrix_;
  Solution solution;
  std::vector<bool> selected(size_, false);
  while (solution.columns.size() < max_columns) {
    size_t best = target;
    double most = 0;
    for (size_t c = 0; c < target; ++c) {
      const double pivot = matrix[c * size_ + c], with_target = matrix[c * size_ + target];
      if (selected[c] || pivot < kLeastPivot || with_target * with_target <= most * pivot) continue;
      if (!may_add(solution.columns, c)) continue;
      best = c;
      most = with_target * with_target / pivot;
    }
    if (best == target) return;
    sweep(matrix, size_, best);
    selected[best] = true;
    solution.columns.push_back(best);
    solution.coefficients.clear();
    for (const size_t c : solution.columns)
      solution.coefficients.push_back(matrix[c * size_ + target] * scale_[c] / scale_[target]);
    if (!visit(solution)) return;
  }
}

}  // namespace forebay::codec
