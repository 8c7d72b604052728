#include "report/thin.h"

#include <algorithm>
#include <cmath>

namespace forebay::report {
namespace {

constexpr double kLeap = 1000;

bool is_whole(const Values& values) { return values.nans + values.infinities == 0; }

}  // namespace

std::vector<Values> thinned(std::vector<Values> values, size_t most) {
  if (values.size() <= most) return values;
  constexpr size_t kOfEach = 3;
  const size_t stretches = std::max<size_t>(1, most / kOfEach), count = values.size();
  std::vector<bool> is_kept(count);
  is_kept[0] = true;
  for (size_t stretch = 0; stretch < stretches; ++stretch) {
    const size_t begin = stretch * count / stretches, end = (stretch + 1) * count / stretches;
    size_t low = end, high = end;
    for (size_t i = begin; i < end; ++i) {
      if (values[i].count == 0) continue;
      if (low == end || values[i].min < values[low].min) low = i;
      if (high == end || values[i].max > values[high].max) high = i;
    }
    if (low < end) is_kept[low] = is_kept[high] = true;
    is_kept[end - 1] = true;
  }
  for (size_t i = 1; i < count; ++i)
    if (is_whole(values[i - 1]) != is_whole(values[i])) is_kept[i - 1] = is_kept[i] = true;
  std::vector<Values> kept;
  for (size_t i = 0; i < count; ++i)
    if (is_kept[i]) kept.push_back(values[i]);
  return kept;
}

std::optional<Leap> Watch::add(const Values& values) {
  if (values.count == 0) return {};
  const double now = std::max(std::abs(values.min), std::abs(values.max)), before = largest_;
  largest_ = std::max(largest_, now);
  if (has_leapt_ || before == 0 || now / kLeap <= before) return {};
  has_leapt_ = true;
  return Leap{.variable = {}, .set = values.set, .before = before, .now = now};
}

}  // namespace forebay::report
