// Regions from lists of segments, and back.
#include <algorithm>
#include <array>

#include "lock/region.h"

namespace forebay::lock {
namespace {

// A term with its levels, from the outermost to the innermost.
struct Item {
  uint64_t start = 0;
  uint64_t length = 0;
  std::array<Level, kMaxLevels> levels;
  size_t depth = 0;

  bool same_shape(const Item& other) const {
    return length == other.length && depth == other.depth &&
           std::equal(levels.begin(), levels.begin() + static_cast<ptrdiff_t>(depth), other.levels.begin());
  }

  // Repeated, if there is something to repeat.
  Item repeated(uint64_t count, uint64_t stride) const {
    if (count == 1) return *this;
    Item item = *this;
    std::copy_backward(levels.begin(), levels.begin() + static_cast<ptrdiff_t>(depth),
                       item.levels.begin() + static_cast<ptrdiff_t>(depth) + 1);
    item.levels[0] = {count, stride};
    ++item.depth;
    return item;
  }
};

// Equal items at equal distances.
struct Run {
  Item first;
  uint64_t count = 0;
  uint64_t stride = 0;

  uint64_t next_start() const { return first.start + count * stride; }

  // Takes `item` in if it continues the run. Any item continues a run of one, if it lies behind it.
  bool take(const Item& item) {
    if (!first.same_shape(item) || item.start <= first.start) return false;
    if (count > 1 && item.start != next_start()) return false;
    if (count == 1) stride = item.start - first.start;
    ++count;
    return true;
  }
};

// Finds runs of segments, runs of such runs and so on: a stage for each level, each handing its runs on to the next one
// as soon as they end.
class Compressor {
 public:
  Result<void> push(const Item& item, size_t stage = 0) {
    if (stage == kMaxLevels) return region_.add(item.start, item.length, std::span(item.levels.data(), item.depth));
    Run& run = stages_[stage];
    if (run.count == 0) {
      run = {item, 1, 0};
      return {};
    }
    if (run.take(item)) return {};
    // Two that merely follow each other are not a run if the second of them is nearer to the third.
    const bool regroup = run.count == 2 && run.first.same_shape(item) && item.start > run.first.start + run.stride &&
                         item.start - (run.first.start + run.stride) < run.stride;
    Item done = run.first;
    if (regroup) {
      run.first.start += run.stride;
      run.stride = item.start - run.first.start;
    } else {
      done = run.first.repeated(run.count, run.stride);
      run = {item, 1, 0};
    }
    return push(done, stage + 1);
  }

  Result<Region> finish() {
    for (size_t stage = 0; stage < kMaxLevels; ++stage) {
      const Run run = stages_[stage];
      if (run.count > 0) FOREBAY_CHECK(push(run.first.repeated(run.count, run.stride), stage + 1));
    }
    return std::move(region_);
  }

 private:
  std::array<Run, kMaxLevels> stages_;
  Region region_;
};

// Every segment of a term, in the order of its levels.
Result<void> add_segments(const Region& from, const Term& term, Region& to) {
  const std::span<const Level> levels = from.levels(term);
  std::array<uint64_t, kMaxLevels> index{};
  uint64_t start = term.start;
  while (true) {
    FOREBAY_CHECK(to.add(start, term.length));
    size_t level = levels.size();
    while (level > 0 && index[level - 1] + 1 == levels[level - 1].count) {
      --level;
      start -= index[level] * levels[level].stride;
      index[level] = 0;
    }
    if (level == 0) return {};
    ++index[level - 1];
    start += levels[level - 1].stride;
  }
}

}  // namespace

Result<Region> expanded(const Region& region, uint64_t most) {
  if (region.segment_count() > most) return fail(ErrorKind::limit, "a region has too many segments to list them");
  Region list;
  for (const Term& term : region.terms()) FOREBAY_CHECK(add_segments(region, term, list));
  return list;
}

Result<Region> compressed(std::span<const Extent> segments) {
  Compressor compressor;
  Item item;
  for (const Extent& segment : segments) {
    if (segment.end <= segment.first) continue;
    if (segment.end > kFileEnd)
      return fail(ErrorKind::invalid_argument, "a region reaches beyond the greatest file offset");
    if (item.length > 0 && item.start + item.length == segment.first) {
      item.length += segment.end - segment.first;
      continue;
    }
    if (item.length > 0) FOREBAY_CHECK(compressor.push(item));
    item.start = segment.first;
    item.length = segment.end - segment.first;
  }
  if (item.length > 0) FOREBAY_CHECK(compressor.push(item));
  return compressor.finish();
}

}  // namespace forebay::lock
