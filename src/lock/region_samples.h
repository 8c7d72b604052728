// What the tests of this room share: random regions, and their bytes one by one.
#pragma once

#include <random>
#include <set>
#include <vector>

#include "lock/region.h"

namespace forebay::lock::samples {

using Random = std::mt19937_64;

inline uint64_t pick(Random& random, uint64_t least, uint64_t most) {
  return std::uniform_int_distribution<uint64_t>(least, most)(random);
}

struct Raw {
  uint64_t start = 0;
  uint64_t length = 0;
  std::vector<Level> levels;
};

// Without Region's help.
inline void put_bytes(std::set<uint64_t>& bytes, const Raw& raw, size_t level = 0, uint64_t shift = 0) {
  if (level == raw.levels.size()) {
    for (uint64_t i = 0; i < raw.length; ++i) bytes.insert(raw.start + shift + i);
    return;
  }
  for (uint64_t i = 0; i < raw.levels[level].count; ++i)
    put_bytes(bytes, raw, level + 1, shift + i * raw.levels[level].stride);
}

inline Raw raw_of(const Region& region, const Term& term) {
  const auto levels = region.levels(term);
  return {term.start, term.length, {levels.begin(), levels.end()}};
}

inline std::set<uint64_t> bytes_of(const Region& region) {
  std::set<uint64_t> bytes;
  for (const Term& term : region.terms()) put_bytes(bytes, raw_of(region, term));
  return bytes;
}

// Up to `depth` levels of any kind: nested, interleaving, with equal, dividing and coprime strides.
inline Raw random_raw(Random& random, uint64_t span, size_t depth, uint64_t most_stride) {
  Raw raw{pick(random, 0, span), pick(random, 1, 4), {}};
  const size_t levels = pick(random, 0, depth);
  for (size_t i = 0; i < levels; ++i) raw.levels.push_back({pick(random, 1, 5), pick(random, 0, most_stride)});
  return raw;
}

// As datatypes describe them: each level beyond the block that it repeats, often by strides that others use, too.
inline Raw random_nested(Random& random, uint64_t span, size_t depth) {
  Raw raw{pick(random, 0, span), pick(random, 1, 3), {}};
  const uint64_t units[] = {3, 4, 6, 8, 12, 24, 30, 48, 60, 120, 240};
  uint64_t reach = raw.length;
  const size_t levels = pick(random, 0, depth);
  for (uint64_t unit : units) {
    if (raw.levels.size() == levels) break;
    if (unit < reach || pick(random, 0, 2) == 0) continue;
    const Level level{pick(random, 2, 6), unit};
    reach += (level.count - 1) * level.stride;
    raw.levels.insert(raw.levels.begin(), level);
  }
  return raw;
}

inline Region region_of(const std::vector<Raw>& raws) {
  Region region;
  for (const Raw& raw : raws) region.add(raw.start, raw.length, raw.levels).value();
  return region;
}

}  // namespace forebay::lock::samples
