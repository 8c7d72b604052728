#include "view/query/truth.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace forebay::view {
namespace {

// What holds for some elements and for others.
class Parts {
 public:
  void add(Truth truth) { all_ = all_ ? (*all_ == truth ? truth : Truth::maybe) : truth; }
  void add(bool truth) { add(truth ? Truth::all : Truth::none); }
  Truth all() const { return all_.value_or(Truth::maybe); }

 private:
  std::optional<Truth> all_;
};

Truth negated(Truth truth) {
  if (truth == Truth::maybe) return truth;
  return truth == Truth::all ? Truth::none : Truth::all;
}

// Of values from `low` to `high`.
Truth between(Comparison comparison, long double low, long double high, long double with) {
  switch (comparison) {
    case Comparison::less:
      return high < with ? Truth::all : low >= with ? Truth::none : Truth::maybe;
    case Comparison::less_equal:
      return high <= with ? Truth::all : low > with ? Truth::none : Truth::maybe;
    case Comparison::greater:
      return negated(between(Comparison::less_equal, low, high, with));
    case Comparison::greater_equal:
      return negated(between(Comparison::less, low, high, with));
    case Comparison::equal:
      if (with < low || with > high) return Truth::none;
      return low == high ? Truth::all : Truth::maybe;
    case Comparison::not_equal:
      return negated(between(Comparison::equal, low, high, with));
    case Comparison::is_nan:
      return Truth::none;
  }
  return Truth::maybe;
}

}  // namespace

Truth judge(const Condition& condition, const DataType& type, const std::optional<container::Characteristics>& known,
            uint64_t elements) {
  if (!known || !type.is_number()) return Truth::maybe;
  uint64_t counted = 0;
  if (__builtin_add_overflow(known->nans, known->infinities, &counted) ||
      __builtin_add_overflow(counted, known->holes, &counted) ||
      __builtin_add_overflow(counted, known->count, &counted) || counted < elements)
    return Truth::maybe;
  Parts parts;
  if (known->count > 0) {
    double low = known->min, high = known->max;
    if (!(low <= high)) return Truth::maybe;
    const bool is_floating = type.kind == Kind::floating;
    if (!is_floating && type.size == 8) {
      constexpr double kExact = 0x1p53;
      if (std::abs(low) >= kExact) low = std::nextafter(low, -HUGE_VAL);
      if (std::abs(high) >= kExact) high = std::nextafter(high, HUGE_VAL);
    }
    parts.add(between(condition.comparison, low, high, is_floating ? condition.value : condition.exact));
  }
  if (known->infinities > 0) {  // of which sign, nobody knows
    parts.add(holds(condition, HUGE_VAL));
    parts.add(holds(condition, -HUGE_VAL));
  }
  if (known->nans > 0 || known->holes > 0) parts.add(condition.comparison == Comparison::is_nan);
  return parts.all();
}

Truth judge(const Condition& condition, const DataType& type, const container::Cube& cube) {
  Parts parts;
  if (cube.min <= cube.max)
    parts.add(between(condition.comparison, cube.min, cube.max,
                      type.kind == Kind::floating ? condition.value : condition.exact));
  if (cube.has_nan) parts.add(condition.comparison == Comparison::is_nan);
  return parts.all();
}

Truth judge(const Expression& expression, std::span<const Truth> conditions) {
  std::vector<Truth> truths(expression.nodes.size());
  for (size_t i = 0; i < truths.size(); ++i) {
    const Expression::Node& node = expression.nodes[i];
    const auto of_child = [&](size_t child) { return truths[child]; };
    switch (node.join) {
      case Expression::Join::condition:
        truths[i] = conditions[node.condition];
        break;
      case Expression::Join::all:
        truths[i] = truths[*std::ranges::min_element(node.children, {}, of_child)];
        break;
      case Expression::Join::any:
        truths[i] = truths[*std::ranges::max_element(node.children, {}, of_child)];
        break;
      case Expression::Join::negation:
        truths[i] = negated(truths[node.children.front()]);
        break;
    }
  }
  return truths.back();
}

}  // namespace forebay::view
