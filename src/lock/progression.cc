#include "lock/progression.h"

#include <algorithm>
#include <vector>

#include "lock/overlap.h"

namespace forebay::lock {
namespace {

uint64_t start_of(const Region& region) { return region.terms().front().start; }

bool same_shape(const Region& a, const Region& b) {
  const uint64_t shift = start_of(b) - start_of(a);
  return std::ranges::equal(a.terms(), b.terms(), [&](const Term& one, const Term& other) {
    return one.length == other.length && other.start - one.start == shift &&
           std::ranges::equal(a.levels(one), b.levels(other));
  });
}

// The place of `inner` is sought level by level, from the greatest stride on. A level of `inner` whose stride is a
// multiple of that of a level of `outer` steps along it.
bool covers(const Region& outer, const Term& wide, const Region& inner, const Term& narrow) {
  if (narrow.start < wide.start) return false;
  uint64_t rest = narrow.start - wide.start;
  const auto levels = inner.levels(narrow);
  bool matched[kMaxLevels] = {};
  for (const Level& along : outer.levels(wide)) {
    uint64_t steps = 0;
    for (size_t i = 0; i < levels.size(); ++i) {
      if (matched[i] || levels[i].stride % along.stride != 0) continue;
      matched[i] = true;
      steps = (levels[i].count - 1) * (levels[i].stride / along.stride);
      break;
    }
    if (steps >= along.count) return false;
    rest -= along.stride * std::min(rest / along.stride, along.count - 1 - steps);
  }
  uint64_t length = narrow.length;
  for (size_t i = 0; i < levels.size(); ++i)
    if (!matched[i]) length += (levels[i].count - 1) * levels[i].stride;
  return length <= wide.length && rest <= wide.length - length;
}

}  // namespace

Result<Region> elements(const Region& first, uint64_t stride, Elements which) {
  Region all;
  uint64_t shift = 0;
  if (__builtin_mul_overflow(stride, which.from, &shift))
    return fail(ErrorKind::invalid_argument, "a progression reaches beyond the greatest file offset");
  std::vector<Level> levels;
  for (const Term& term : first.terms()) {
    levels.assign(first.levels(term).begin(), first.levels(term).end());
    levels.push_back({which.to - which.from, stride});
    uint64_t start = 0;
    if (__builtin_add_overflow(term.start, shift, &start))
      return fail(ErrorKind::invalid_argument, "a progression reaches beyond the greatest file offset");
    FOREBAY_CHECK(all.add(start, term.length, levels));
  }
  return all;
}

Elements touched(const Region& first, uint64_t stride, uint64_t count, const Region& other) {
  const auto meets = [&](Elements which) {
    const auto region = elements(first, stride, which);
    return !region || overlap(*region, other);
  };
  if (!meets({0, count})) return {};
  uint64_t low = 0, high = count - 1;  // the first one that is touched is among these
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    meets({low, middle + 1}) ? high = middle : low = middle + 1;
  }
  const uint64_t from = low;
  high = count - 1;
  while (low < high) {
    const uint64_t middle = low + (high - low + 1) / 2;
    meets({middle, high + 1}) ? low = middle : high = middle - 1;
  }
  return {from, low + 1};
}

bool covers(const Region& outer, const Region& inner) {
  const auto wide = outer.terms();
  const auto narrow = inner.terms();
  for (size_t i = 0; i < narrow.size(); ++i) {
    const auto holds = [&](const Term& term) { return covers(outer, term, inner, narrow[i]); };
    if (!(i < wide.size() && holds(wide[i])) && std::ranges::none_of(wide, holds)) return false;
  }
  return true;
}

Foresight::Pattern* Foresight::find(std::string_view file, const Region& region, Access access) {
  const auto found = std::ranges::find_if(patterns_, [&](const Pattern& one) {
    return one.access == access && one.file == file && same_shape(one.last, region);
  });
  return found == patterns_.end() ? nullptr : &*found;
}

std::optional<Ahead> Foresight::ask(std::string_view file, const Region& region, Access access) {
  if (region.empty() || region.terms().size() > kMostTerms) return std::nullopt;
  Pattern* const known = find(file, region, access);
  if (known == nullptr) {
    if (patterns_.size() == kMostPatterns) patterns_.pop_front();
    patterns_.push_back({.file = std::string(file), .access = access, .last = region});
    return std::nullopt;
  }
  const uint64_t start = start_of(region), before = start_of(known->last);
  if (known->stride != 0 && start == known->expected) {
    ++known->run;
  } else {
    known->stride = start > before ? start - before : 0;
    known->run = 0;
    known->ahead = 0;
  }
  known->last = region;
  known->expected = start + known->stride;
  if (known->stride == 0 || known->run < known->required) return std::nullopt;
  known->ahead = std::clamp(2 * known->ahead, kFirst, kMost);
  return Ahead{known->stride, known->ahead};
}

void Foresight::lent(std::string_view file, const Region& region, Access access, uint64_t count) {
  if (region.empty() || region.terms().size() > kMostTerms) return;
  Pattern* const known = find(file, region, access);
  if (known != nullptr) known->expected = start_of(region) + count * known->stride;
}

void Foresight::recalled(std::string_view file) {
  for (Pattern& one : patterns_) {
    if (one.file != file || one.ahead == 0) continue;
    one.ahead /= 4;
    one.run = 0;
    one.required = std::min<uint64_t>(2 * one.required, kMost);
  }
}

}  // namespace forebay::lock
