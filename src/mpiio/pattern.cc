#include "mpiio/pattern.h"

#include <algorithm>

#include "mpiio/pattern_node.h"

namespace forebay::lock::mpiio {

Pattern Pattern::bytes(uint64_t length) {
  Pattern pattern;
  if (auto node = make_run(length, 1, 0); length > 0 && node) {
    pattern.node_ = *std::move(node);
    pattern.extent_ = static_cast<int64_t>(length);
  }
  return pattern;
}

Result<Pattern> Pattern::sequence(std::span<const Part> parts, int64_t lower_bound, int64_t extent) {
  Sequence sequence;
  for (const Part& part : parts) FOREBAY_CHECK(sequence.add(part.displacement, part.pattern));
  return sequence.finish(lower_bound, extent);
}

Result<Pattern> Pattern::loop(uint64_t count, int64_t stride, const Pattern& part, int64_t lower_bound,
                              int64_t extent) {
  if (count == 0 || !part.node_) return Pattern().resized(lower_bound, extent);
  Pattern pattern = part.resized(lower_bound, extent);
  FOREBAY_TRY(pattern.node_, repeat(count, stride, part.node_));
  int64_t ignored = 0;
  if (__builtin_add_overflow(pattern.shift_, pattern.node_->first, &ignored) ||
      __builtin_add_overflow(pattern.shift_, pattern.node_->end, &ignored))
    return fail(ErrorKind::limit, "a datatype has offsets beyond 63 bits");
  return pattern;
}

Pattern Pattern::resized(int64_t lower_bound, int64_t extent) const {
  Pattern pattern = *this;
  pattern.lower_bound_ = lower_bound;
  pattern.extent_ = extent;
  return pattern;
}

uint64_t Pattern::size() const { return node_ ? node_->size : 0; }
int64_t Pattern::first() const { return node_ ? shift_ + node_->first : 0; }
int64_t Pattern::end() const { return node_ ? shift_ + node_->end : 0; }
uint64_t Pattern::segment_count() const { return node_ ? node_->segments : 0; }
bool Pattern::contiguous() const { return segment_count() <= 1; }
bool Pattern::dense() const { return contiguous() && static_cast<int64_t>(size()) == extent_; }

Result<void> check_offsets(const Pattern& pattern, int64_t origin, uint64_t data_begin, uint64_t data_end) {
  if (!pattern.root() || data_begin >= data_end) return {};
  auto outside = [](Wide offset) { return offset < INT64_MIN || offset > INT64_MAX; };
  Repetitions part = repetitions(pattern.size(), data_begin, data_end);
  for (uint64_t repetition : {part.first, part.last}) {
    // Three factors below 2^64, 2^63 and 2^63: the product stays below 2^127.
    Wide base = static_cast<Wide>(repetition) * pattern.extent() + origin;
    if (outside(base + pattern.first()) || outside(base + pattern.end()))
      return fail(ErrorKind::limit, "offsets beyond 63 bits");
  }
  if (data_end > uint64_t{INT64_MAX}) return fail(ErrorKind::limit, "more data than 63 bits can count");
  return {};
}

}  // namespace forebay::lock::mpiio
