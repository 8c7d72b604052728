#include "mpiio/pattern_model.h"

#include <algorithm>

namespace forebay::lock::mpiio {

static void append(Modelled& to, int64_t displacement, const Modelled& part) {
  for (int64_t byte : part.bytes) to.bytes.push_back(byte + displacement);
}

static int64_t end_of(const Modelled& made) {
  return made.bytes.empty() ? 0 : *std::ranges::max_element(made.bytes) + 1;
}

static int64_t first_of(const Modelled& made) { return made.bytes.empty() ? 0 : *std::ranges::min_element(made.bytes); }

Modelled PatternMaker::finish(Modelled made, bool monotone) {
  int64_t lower = number(-10, 10), extent = number(-100, 100);
  if (monotone) {
    lower = first_of(made);
    extent = end_of(made) - lower + number(0, 2) * number(0, 20);
  }
  made.pattern = made.pattern.resized(lower, extent);
  return made;
}

Modelled PatternMaker::make_loop(int depth, bool monotone) {
  Modelled part = make(depth - 1, monotone), made;
  int64_t count = number(0, 5), span = end_of(part) - first_of(part);
  int64_t stride = number(0, 3) == 0 ? span : number(-60, 60);
  if (monotone) stride = span + number(0, 1) * number(0, 30);
  for (int64_t i = 0; i < count; ++i) append(made, i * stride, part);
  made.pattern = *Pattern::loop(static_cast<uint64_t>(count), stride, part.pattern, 0, 0);
  return finish(std::move(made), monotone);
}

Modelled PatternMaker::make_sequence(int depth, bool monotone) {
  Modelled made, part = make(depth - 1, monotone);
  Sequence sequence;
  int64_t count = number(0, 3) == 0 ? number(0, 20) : number(0, 4), step = number(0, 40), at = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (number(0, 3) == 0) part = make(depth - 1, monotone);
    int64_t displacement = number(0, 1) ? at + step : number(-50, 50);
    if (monotone) displacement = at - first_of(part) + number(0, 1) * step;
    append(made, displacement, part);
    if (!sequence.add(displacement, part.pattern)) std::abort();
    at = monotone ? std::max(at, displacement + end_of(part)) : displacement;
  }
  made.pattern = *sequence.finish(0, 0);
  return finish(std::move(made), monotone);
}

Modelled PatternMaker::make(int depth, bool monotone) {
  if (depth > 0) return number(0, 1) ? make_loop(depth, monotone) : make_sequence(depth, monotone);
  int64_t length = number(0, 8) == 0 ? 0 : number(1, 12);
  Modelled made{.pattern = Pattern::bytes(static_cast<uint64_t>(length)), .bytes = {}};
  for (int64_t i = 0; i < length; ++i) made.bytes.push_back(i);
  return made;
}

std::vector<int64_t> model_bytes(const Modelled& modelled, int64_t origin, uint64_t begin, uint64_t end) {
  std::vector<int64_t> bytes;
  for (uint64_t data = begin; data < end && !modelled.bytes.empty(); ++data)
    bytes.push_back(origin + modelled.bytes[data % modelled.bytes.size()] +
                    static_cast<int64_t>(data / modelled.bytes.size()) * modelled.pattern.extent());
  return bytes;
}

std::vector<int64_t> cursor_bytes(const Pattern& pattern, int64_t origin, uint64_t begin, uint64_t end) {
  std::vector<int64_t> bytes;
  Cursor cursor(pattern, origin, begin, end);
  for (Segment segment; cursor.next(segment);)
    for (uint64_t i = 0; i < segment.length; ++i) bytes.push_back(segment.offset + static_cast<int64_t>(i));
  return bytes;
}

}  // namespace forebay::lock::mpiio
