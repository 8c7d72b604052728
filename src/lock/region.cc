#include "lock/region.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace forebay::lock {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

// The bytes from the first to the last of a term, or nothing if it would reach beyond kFileEnd.
bool extent_fits(uint64_t start, uint64_t length, std::span<const Level> levels) {
  uint64_t end = 0;
  if (__builtin_add_overflow(start, length, &end)) return false;
  for (const Level& level : levels) {
    uint64_t reach = 0;
    if (__builtin_mul_overflow(level.count - 1, level.stride, &reach)) return false;
    if (__builtin_add_overflow(end, reach, &end)) return false;
  }
  return end <= kFileEnd;
}

// Whether repeating `inner` as `outer` says only makes it longer: then how often.
bool continues(const Level& outer, const Level& inner) {
  return outer.stride % inner.stride == 0 && outer.stride / inner.stride <= inner.count;
}

// Folds levels, given from the innermost to the outermost, into the length and into each other; returns how many
// remain.
size_t fold(uint64_t& length, std::span<Level> levels) {
  size_t kept = 0;
  for (const Level level : levels) {
    if (level.stride <= length)
      length += (level.count - 1) * level.stride;
    else if (kept > 0 && continues(level, levels[kept - 1]))
      levels[kept - 1].count += (level.count - 1) * (level.stride / levels[kept - 1].stride);
    else
      levels[kept++] = level;
  }
  return kept;
}

}  // namespace

Region Region::whole_file() {
  Region region;
  region.terms_.push_back({0, kFileEnd, 0, 0});
  region.bounds_ = {0, kFileEnd};
  return region;
}

Result<void> Region::add(uint64_t start, uint64_t length, std::span<const Level> levels) {
  if (length == 0 || std::ranges::any_of(levels, [](const Level& level) { return level.count == 0; })) return {};
  if (!extent_fits(start, length, levels))
    return fail(ErrorKind::invalid_argument, "a region reaches beyond the greatest file offset");

  // The levels are brought into their form where they will stay.
  const size_t before = levels_.size();
  for (const Level& level : levels)
    if (level.count > 1 && level.stride > 0) levels_.push_back(level);
  const std::span<Level> added(levels_.begin() + static_cast<ptrdiff_t>(before), levels_.end());
  std::ranges::sort(added, {}, &Level::stride);
  const size_t kept = fold(length, added);
  if (kept > kMaxLevels || before + kept > std::numeric_limits<uint32_t>::max()) {
    levels_.resize(before);
    return fail(ErrorKind::invalid_argument, "a term of a region has too many levels");
  }
  std::ranges::reverse(added.first(kept));
  levels_.resize(before + kept);

  Term term{start, length, static_cast<uint32_t>(before), static_cast<uint32_t>(kept)};
  if (!terms_.empty() && std::ranges::equal(this->levels(terms_.back()), this->levels(term))) {
    term.first_level = terms_.back().first_level;
    levels_.resize(before);
  }
  const Extent box = bounds_of(*this, term);
  ordered_ = ordered_ && box.first >= bounds_.end;
  bounds_ = terms_.empty() ? box : Extent{std::min(bounds_.first, box.first), std::max(bounds_.end, box.end)};
  terms_.push_back(term);
  return {};
}

void Region::sort() {
  if (ordered_ || std::ranges::is_sorted(terms_, {}, &Term::start)) return;
  std::ranges::sort(terms_, {}, &Term::start);
  ordered_ = std::ranges::adjacent_find(terms_, [this](const Term& a, const Term& b) {
               return bounds_of(*this, a).end > b.start;
             }) == terms_.end();
}

uint64_t Region::segment_count() const {
  uint64_t all = 0;
  for (const Term& term : terms_) {
    uint64_t count = 1;
    for (const Level& level : levels(term))
      if (__builtin_mul_overflow(count, level.count, &count)) return kMost;
    if (__builtin_add_overflow(all, count, &all)) return kMost;
  }
  return all;
}

size_t Region::memory() const { return terms_.capacity() * sizeof(Term) + levels_.capacity() * sizeof(Level); }

Extent bounds_of(const Region& region, const Term& term) {
  uint64_t end = term.start + term.length;
  for (const Level& level : region.levels(term)) end += (level.count - 1) * level.stride;
  return {term.start, end};
}

Region coarsened(Region region, Granularity granularity) {
  if (granularity == Granularity::list || region.empty()) return region;
  if (granularity == Granularity::file) return Region::whole_file();
  const Extent bounds = region.bounds();
  Region range;
  // Cannot fail: the bounds of a region are within the file.
  (void)range.add(bounds.first, bounds.end - bounds.first);
  return range;
}

}  // namespace forebay::lock
