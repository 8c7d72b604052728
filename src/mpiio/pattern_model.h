// Random patterns together with the plain list of the bytes that they stand for.
#pragma once

#include <random>
#include <vector>

#include "mpiio/pattern.h"

namespace forebay::lock::mpiio {

struct Modelled {
  Pattern pattern;
  std::vector<int64_t> bytes;  // the offset of each byte of data, in order
};

class PatternMaker {
 public:
  explicit PatternMaker(uint32_t seed) : random_(seed) {}

  int64_t number(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(random_); }

  // At most a few thousand bytes. `monotone`: what may be a filetype, with offsets that neither decrease nor overlap.
  Modelled make(int depth, bool monotone);

 private:
  Modelled make_loop(int depth, bool monotone);
  Modelled make_sequence(int depth, bool monotone);
  Modelled finish(Modelled made, bool monotone);

  std::mt19937 random_;
};

// The model of the data from `begin` to before `end` of the endless repetition.
std::vector<int64_t> model_bytes(const Modelled& modelled, int64_t origin, uint64_t begin, uint64_t end);

// What a cursor gives, byte by byte.
std::vector<int64_t> cursor_bytes(const Pattern& pattern, int64_t origin, uint64_t begin, uint64_t end);

}  // namespace forebay::lock::mpiio
