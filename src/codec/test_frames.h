// Frames for tests: made from integers only, so that they are the same on every machine.
#pragma once

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/shape.h"

namespace forebay::codec::testing {

struct Frame {
  std::string name;
  FrameShape shape;
  Bytes raw;
};

// splitmix64 (S. Vigna).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

inline size_t byte_count(const FrameShape& shape) { return shape.element_total() * shape.type.size; }

inline Bytes random_bytes(size_t count, uint64_t seed) {
  Random random(seed);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next() >> 32);
  return bytes;
}

// Appends the low bytes of `value` as an element of `type`.
inline void append(Bytes& bytes, const DataType& type, uint64_t value) {
  for (size_t i = 0; i < type.size; ++i) {
    const size_t significance = type.order == ByteOrder::big ? type.size - 1 - i : i;
    bytes.push_back(static_cast<std::byte>(significance < 8 ? value >> (8 * significance) : 0));
  }
}

inline uint64_t bits_of(const DataType& type, double value) {
  if (type.kind == Kind::floating && type.size == 8) return std::bit_cast<uint64_t>(value);
  if (type.kind == Kind::floating && type.size == 4) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

// A polynomial in the coordinates, plus noise in the last bits: what a field looks like.
inline Bytes smooth_bytes(const FrameShape& shape, uint64_t seed) {
  Random random(seed);
  Bytes bytes;
  for (const Block& block : shape.blocks)
    for (uint64_t i = 0; i < block.count(); ++i) {
      const auto x = static_cast<double>(i % block.dims[3]);
      const auto y = static_cast<double>(i / block.dims[3] % block.dims[2]);
      const auto z = static_cast<double>(i / block.dims[3] / block.dims[2]);
      const double value = 1000 + 0.51 * x * x - 3.3 * y + x * y / 67 + 0.37 * z * z - 0.013 * x * z;
      append(bytes, shape.type, bits_of(shape.type, value) + random.next() % 16);
    }
  return bytes;
}

// NaNs with payloads, infinities, both zeros, denormals and the extremes, as bit patterns, in turn.
inline Bytes special_bytes(const FrameShape& shape) {
  const unsigned bits = shape.type.size >= 8 ? 64 : shape.type.size * 8u;
  const unsigned mantissa = bits == 64 ? 52 : bits == 32 ? 23 : bits == 16 ? 10 : 4;
  const uint64_t sign = uint64_t{1} << (bits - 1), infinity = (sign - 1) >> mantissa << mantissa;
  const uint64_t patterns[] = {0,
                               sign,
                               infinity,
                               sign | infinity,
                               infinity | 1,
                               sign | infinity | 1,
                               sign - 1,
                               ~uint64_t{0},
                               1,
                               sign | 1,
                               infinity - 1,
                               infinity | uint64_t{1} << (mantissa - 1),
                               infinity | uint64_t{3} << (mantissa - 2),
                               sign + 2,
                               infinity >> 1};
  Bytes bytes;
  for (uint64_t i = 0; i < shape.element_total(); ++i)
    append(bytes, shape.type, patterns[(i * i + i / 7) % std::size(patterns)]);
  return bytes;
}

// Both zeros, denormals and small normal numbers: what remains of the special values for a codec that leaves out NaN.
inline Bytes small_bytes(const FrameShape& shape) {
  const unsigned top = shape.type.size >= 8 ? 63 : shape.type.size * 8u - 1;
  Random random(5);
  Bytes bytes;
  for (uint64_t i = 0; i < shape.element_total(); ++i) {
    const uint64_t value = random.next();
    append(bytes, shape.type, (value & 1) << top | (value >> 8 & ((uint64_t{1} << (value >> 1) % top) - 1)));
  }
  return bytes;
}

inline std::vector<DataType> all_types() {
  std::vector<DataType> types{kBytes, {Kind::opaque, ByteOrder::little, 3}, {Kind::opaque, ByteOrder::little, 24}};
  for (const Kind kind : {Kind::signed_int, Kind::unsigned_int, Kind::floating})
    for (const uint16_t size : std::initializer_list<uint16_t>{1, 2, 4, 8})
      for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
        if (const DataType type{kind, order, size}; type.is_valid()) types.push_back(type);
  return types;
}

inline std::vector<std::pair<std::string, std::vector<Block>>> all_shapes() {
  std::vector<Block> tiny(300, Block{{1, 1, 1, 1}});
  std::vector<Block> mixed{{{1, 1, 1, 5}},   {{1, 1, 3, 1}},   {{1, 1, 1, 0}}, {{2, 3, 4, 5}},
                           {{1, 6, 1, 7}},   {{1, 1, 20, 33}}, {{3, 1, 1, 2}}, {{1, 5, 17, 19}},
                           {{1, 5, 17, 19}}, {{1, 1, 1, 700}}, {{1, 1, 1, 1}}};
  return {{"empty", {}},
          {"no_elements", {Block{{1, 1, 0, 4}}}},
          {"one", {Block{}}},
          {"line", {Block{{1, 1, 1, 1999}}}},
          {"plane", {Block{{1, 1, 37, 53}}}},
          {"volume", {Block{{1, 13, 17, 11}}, Block{{1, 13, 17, 11}}}},
          {"four_dimensional", {Block{{3, 5, 7, 9}}}},
          {"tiny_blocks", tiny},
          {"mixed", mixed}};
}

// Lines of numbers, as text.
inline Frame text_frame() {
  std::string text;
  Random random(5);
  for (int line = 0; line < 6000; ++line)
    text += std::to_string(line) + " " + std::to_string(random.next() % 1000) + ".25 at -" +
            std::to_string(random.next() % 90 + 10) + "\n";
  const auto bytes = std::as_bytes(std::span(text));
  return {"text", {kBytes, {Block{{1, 1, 1, bytes.size()}}}}, Bytes(bytes.begin(), bytes.end())};
}

inline std::vector<Frame> all_frames() {
  std::vector<Frame> frames{text_frame()};
  for (const DataType& type : all_types())
    for (const auto& [shape_name, blocks] : all_shapes()) {
      const FrameShape shape{type, blocks};
      const std::string name = type.name() + " " + shape_name;
      frames.push_back({name + " smooth", shape, smooth_bytes(shape, 1)});
      frames.push_back({name + " random", shape, random_bytes(byte_count(shape), 2)});
      frames.push_back({name + " special", shape, special_bytes(shape)});
      frames.push_back({name + " small", shape, small_bytes(shape)});
      frames.push_back({name + " constant", shape, Bytes(byte_count(shape), std::byte{0x3f})});
    }
  return frames;
}

}  // namespace forebay::codec::testing
