// Data that the microbenchmarks run on: smooth fields with noise in their low bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/shape.h"

namespace forebay::bench {

struct Field {
  std::string name;
  FrameShape shape;
  Bytes bytes;
};

// A cheap generator is good enough for noise (Numerical Recipes' constants).
class Noise {
 public:
  uint32_t next() { return state_ = state_ * 1664525u + 1013904223u; }
  double unit() { return next() * 0x1p-32; }

 private:
  uint32_t state_ = 1;
};

template <class T>
Field make_field(const char* type, std::vector<Block> blocks) {
  Noise noise;
  Field field{type, {*DataType::parse(type), std::move(blocks)}, {}};
  field.name += field.shape.blocks.size() > 1 ? " small blocks" : " one block";
  field.bytes.resize(field.shape.element_total() * sizeof(T));
  size_t at = 0;
  for (const Block& block : field.shape.blocks)
    for (uint64_t i = 0; i < block.count(); ++i, at += sizeof(T)) {
      const double x = static_cast<double>(i % block.dims[3]), y = static_cast<double>(i / block.dims[3]);
      const double value = 1000 * (2 + std::sin(0.05 * x) * std::cos(0.01 * y)) * (1 + 1e-5 * noise.unit());
      const auto stored = static_cast<T>(value);
      std::memcpy(field.bytes.data() + at, &stored, sizeof stored);
    }
  return field;
}

// 4 MiB each: one large array, and many small ones as small variables give.
inline const std::vector<Field>& fields() {
  static const std::vector<Field> all = {
      make_field<double>("f8", {{{1, 128, 64, 64}}}),
      make_field<double>("f8", std::vector<Block>(512, Block{{1, 1, 32, 32}})),
      make_field<float>("f4", {{{1, 128, 128, 64}}}),
      make_field<int32_t>("i4", {{{1, 128, 128, 64}}}),
  };
  return all;
}

}  // namespace forebay::bench
