// The elements for which a query really holds: reads what candidates have, tile by tile, and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "view/query/candidates.h"

namespace forebay::view {

using Number = std::variant<double, float, int64_t, uint64_t>;

// Some elements of one candidate, at most kHitsAtOnce of them.
struct Hits {
  size_t candidate = 0;  // in Candidates::candidates
  size_t count = 0;
  std::vector<uint64_t> indices;  // of each element, as many as its array has dimensions; none of scalars
  std::vector<Number> values;     // of each element, that of each variable of the query
};
inline constexpr size_t kHitsAtOnce = 4096;

struct RefineOptions {
  uint64_t tile_bytes = uint64_t{32} << 20;    // of values that are held at once; one element of each variable at least
  std::function<void(const Hits& hits)> hits;  // candidates in order, elements of each in C order
  std::function<void(size_t candidate, const Error& error)> failed;  // a part of it could not be read: corrupt, ...
};

// An error of its own only where nothing more can be read.
Result<ReadCost> refine(const Step& step, const Expression& expression, const Candidates& found,
                        const RefineOptions& options);

}  // namespace forebay::view
