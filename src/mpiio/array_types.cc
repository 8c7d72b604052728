#include "mpiio/array_types.h"

#include <algorithm>
#include <vector>

namespace forebay::lock::mpiio {
namespace {

// The indices of one dimension that belong to a part: blocks of `length`, `period` apart from `first` on, below `end`.
struct Indices {
  int64_t first = 0;
  int64_t length = 0;
  int64_t period = 1;
  int64_t end = 0;
};

std::unexpected<Error> too_large() { return fail(ErrorKind::limit, "an array has offsets beyond 63 bits"); }

// `inner` at these indices, `stride` bytes apart.
Result<Pattern> along(const Indices& indices, int64_t stride, const Pattern& inner) {
  if (indices.length <= 0 || indices.first >= indices.end) return Pattern();
  int64_t first = 0, period = 0;
  if (__builtin_mul_overflow(indices.first, stride, &first) || __builtin_mul_overflow(indices.period, stride, &period))
    return too_large();
  int64_t left = indices.end - indices.first;
  int64_t whole = left / indices.period, rest = left % indices.period;
  if (rest >= indices.length) {
    ++whole;
    rest = 0;
  }
  FOREBAY_TRY(Pattern block, Pattern::loop(static_cast<uint64_t>(indices.length), stride, inner, 0, 0));
  FOREBAY_TRY(Pattern blocks, Pattern::loop(static_cast<uint64_t>(whole), period, block, 0, 0));
  FOREBAY_TRY(Pattern last, Pattern::loop(static_cast<uint64_t>(rest), stride, inner, 0, 0));
  Sequence all;
  FOREBAY_CHECK(all.add(first, blocks));
  // Without a rest the displacement may be beyond what can be said, and is not needed.
  if (rest > 0) FOREBAY_CHECK(all.add(first + whole * period, last));
  return all.finish(0, 0);
}

// Nests the dimensions, the fastest one innermost. `indices(i)` tells those of dimension i, whose size is `size(i)`.
template <class IndicesOf, class SizeOf>
Result<Pattern> nested(size_t rank, ArrayOrder order, const Pattern& element, const IndicesOf& indices,
                       const SizeOf& size) {
  Pattern pattern = element;
  int64_t stride = element.extent();
  for (size_t step = 0; step < rank; ++step) {
    size_t i = order == ArrayOrder::c ? rank - 1 - step : step;
    FOREBAY_TRY(pattern, along(indices(i), stride, pattern));
    if (__builtin_mul_overflow(stride, size(i), &stride)) return too_large();
  }
  return pattern;
}

Result<Indices> indices_of(const DarrayDimension& dimension, int64_t coordinate) {
  int64_t size = dimension.size, processes = dimension.processes, argument = dimension.argument;
  if (size < 0 || processes < 1) return fail(ErrorKind::invalid_argument, "a distributed array has impossible sizes");
  switch (dimension.distribution) {
    case Distribution::none:
      return Indices{0, size, std::max<int64_t>(size, 1), size};
    case Distribution::block: {
      int64_t block = argument < 0 ? size / processes + (size % processes != 0) : argument;
      int64_t first = 0;
      if (__builtin_mul_overflow(block, coordinate, &first)) return too_large();
      int64_t length = std::clamp<int64_t>(size - std::min(first, size), 0, block);
      return Indices{first, length, std::max<int64_t>(length, 1), first + length};
    }
    case Distribution::cyclic: {
      int64_t block = argument < 0 ? 1 : std::max<int64_t>(argument, 1);
      int64_t first = 0, period = 0;
      if (__builtin_mul_overflow(block, coordinate, &first) || __builtin_mul_overflow(block, processes, &period))
        return too_large();
      return Indices{first, block, period, size};
    }
  }
  return fail(ErrorKind::invalid_argument, "a distributed array has an unknown distribution");
}

}  // namespace

Result<Pattern> subarray(std::span<const SubarrayDimension> dimensions, ArrayOrder order, const Pattern& element,
                         int64_t lower_bound, int64_t extent) {
  auto indices = [&](size_t i) {
    auto [size, subsize, start] = dimensions[i];
    return Indices{start, subsize, std::max<int64_t>(subsize, 1), start + subsize};
  };
  auto size = [&](size_t i) { return dimensions[i].size; };
  FOREBAY_TRY(Pattern pattern, nested(dimensions.size(), order, element, indices, size));
  return pattern.resized(lower_bound, extent);
}

Result<Pattern> darray(std::span<const DarrayDimension> dimensions, int64_t rank, ArrayOrder order,
                       const Pattern& element, int64_t lower_bound, int64_t extent) {
  std::vector<Indices> all(dimensions.size());
  for (size_t i = dimensions.size(); i-- > 0;) {
    int64_t processes = std::max<int64_t>(dimensions[i].processes, 1);
    FOREBAY_TRY(all[i], indices_of(dimensions[i], rank % processes));
    rank /= processes;
  }
  auto indices = [&](size_t i) { return all[i]; };
  auto size = [&](size_t i) { return dimensions[i].size; };
  FOREBAY_TRY(Pattern pattern, nested(dimensions.size(), order, element, indices, size));
  return pattern.resized(lower_bound, extent);
}

}  // namespace forebay::lock::mpiio
