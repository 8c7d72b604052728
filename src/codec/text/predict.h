// Predictions of the numbers of a run from those above them and from the same rows of earlier runs: in keys, whose
// arithmetic is that of uint64_t, or in values, in double precision. Both give the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace forebay::codec::text {

enum class Predictor : uint8_t {
  zero,
  above,           // the row before
  line,            // the line through the two rows before
  lag,             // the row `lag` before
  lag_line,        // the line through those `lag` and twice `lag` before
  plane,           // above + lag - the one above that: rows of a plane, one after another
  before,          // the same row of the earlier run
  change,          // above, and what changed in the earlier run
  advance,         // the line through the two earlier runs
  advance_change,  // above, and what changes on that line
  cube,            // plane, and how far off it was in the earlier run
  second,          // the same row of the run before the earlier one
  second_change,   // above, and what changed there
  by_id,           // the row of the earlier run with the same id
};
inline constexpr uint8_t kPredictors = 14;

constexpr bool needs_lag(Predictor p) {
  return p == Predictor::lag || p == Predictor::lag_line || p == Predictor::plane || p == Predictor::cube;
}
constexpr bool needs_second(Predictor p) {
  return p == Predictor::advance || p == Predictor::advance_change || p == Predictor::second ||
         p == Predictor::second_change;
}
constexpr bool needs_before(Predictor p) { return p >= Predictor::before && p <= Predictor::cube; }

// What a run's column is predicted from. T is uint64_t for keys, double for values.
template <class T>
struct Neighbours {
  const T* run = nullptr;          // its rows, of which those before the predicted one are known
  bool has_row_above = false;      // run[-1] is the column's row before the run
  size_t lag = 0;                  // 0: none; else 2 or more
  const T* before = nullptr;       // the rows of the earlier run, or null
  const T* second = nullptr;       // those of the one before that, or null
  const int32_t* by_id = nullptr;  // the row in `before` for each row, or -1; null if there are no ids

  bool allows(Predictor p) const {
    if (needs_lag(p) && lag == 0) return false;
    if (p == Predictor::by_id) return by_id != nullptr && before != nullptr;
    return (!needs_before(p) || before != nullptr) && (!needs_second(p) || (before != nullptr && second != nullptr));
  }
};

// The prediction of row k. The neighbours allow it.
template <Predictor p, class T>
T predict(const Neighbours<T>& n, size_t k) {
  const T* const x = n.run;
  const T above = k > 0 || n.has_row_above ? x[static_cast<ptrdiff_t>(k) - 1] : T{0};
  if constexpr (p == Predictor::zero) {
    return T{0};
  } else if constexpr (p == Predictor::above) {
    return above;
  } else if constexpr (p == Predictor::line) {
    return k > 1 ? x[k - 1] + (x[k - 1] - x[k - 2]) : above;
  } else if constexpr (p == Predictor::lag) {
    return k >= n.lag ? x[k - n.lag] : above;
  } else if constexpr (p == Predictor::lag_line) {
    return k >= 2 * n.lag ? x[k - n.lag] + (x[k - n.lag] - x[k - 2 * n.lag]) : above;
  } else if constexpr (p == Predictor::plane) {
    return k > n.lag ? above + (x[k - n.lag] - x[k - n.lag - 1]) : above;
  } else if constexpr (p == Predictor::before) {
    return n.before[k];
  } else if constexpr (p == Predictor::change) {
    return k > 0 ? above + (n.before[k] - n.before[k - 1]) : n.before[k];
  } else if constexpr (p == Predictor::advance) {
    return n.before[k] + (n.before[k] - n.second[k]);
  } else if constexpr (p == Predictor::advance_change) {
    if (k == 0) return n.before[0];
    const T now = n.before[k] + (n.before[k] - n.second[k]);
    return above + (now - (n.before[k - 1] + (n.before[k - 1] - n.second[k - 1])));
  } else if constexpr (p == Predictor::cube) {
    if (k <= n.lag) return k > 0 ? above + (n.before[k] - n.before[k - 1]) : n.before[k];
    const T plane = above + (x[k - n.lag] - x[k - n.lag - 1]);
    return plane + (n.before[k] - (n.before[k - 1] + (n.before[k - n.lag] - n.before[k - n.lag - 1])));
  } else if constexpr (p == Predictor::second) {
    return n.second[k];
  } else if constexpr (p == Predictor::second_change) {
    return k > 0 ? above + (n.second[k] - n.second[k - 1]) : n.second[k];
  } else {
    return n.by_id[k] >= 0 ? n.before[n.by_id[k]] : above;
  }
}

// Calls function.operator()<p>().
template <class Function>
auto with_predictor(Predictor p, const Function& function) {
  switch (p) {
    case Predictor::zero:
      return function.template operator()<Predictor::zero>();
    case Predictor::above:
      return function.template operator()<Predictor::above>();
    case Predictor::line:
      return function.template operator()<Predictor::line>();
    case Predictor::lag:
      return function.template operator()<Predictor::lag>();
    case Predictor::lag_line:
      return function.template operator()<Predictor::lag_line>();
    case Predictor::plane:
      return function.template operator()<Predictor::plane>();
    case Predictor::before:
      return function.template operator()<Predictor::before>();
    case Predictor::change:
      return function.template operator()<Predictor::change>();
    case Predictor::advance:
      return function.template operator()<Predictor::advance>();
    case Predictor::advance_change:
      return function.template operator()<Predictor::advance_change>();
    case Predictor::cube:
      return function.template operator()<Predictor::cube>();
    case Predictor::second:
      return function.template operator()<Predictor::second>();
    case Predictor::second_change:
      return function.template operator()<Predictor::second_change>();
    case Predictor::by_id:
      break;
  }
  return function.template operator()<Predictor::by_id>();
}

}  // namespace forebay::codec::text
