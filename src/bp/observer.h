// The statistics that a BP file has of a block, found while its values pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "bp/index.h"

namespace forebay::bp {

class Encoder;

// How much a file has of them, as programs say in a group's `stats`.
enum class Depth : uint8_t { none, minmax, full };

// Takes the values of one block in any order and number of pieces.
class Observer {
 public:
  // Of elements of that type: numbers and complex ones. `minmax`: the bounds of all values but NaNs, as ADIOS has them;
  // `full`: bounds, count, sum and sum of squares of finite values.
  Observer(uint8_t type, Depth depth) : type_(type), depth_(depth) {}

  // Whole elements in this machine's byte order.
  void add(std::span<const std::byte> elements);

  // The characteristics "bitmap" and "stat" (ids 9 and 10), of the same length whatever the values are.
  void encode(Encoder& to) const;

 private:
  struct Bounds {  // of one of magnitude, real and imaginary part, or of the values themselves
    // Wide enough for every type: a long double of x86 has all integers of 64 bits.
    long double min = 0, max = 0;
    double sum = 0, sum_of_squares = 0;
    uint32_t count = 0;
    bool is_known = false;
  };

  template <class T, class At>
  void add(Bounds& to, size_t count, const At& at) const;
  template <class T>
  void add_complex(std::span<const std::byte> elements);
  void put_bound(Encoder& to, long double value) const;

  const uint8_t type_;
  const Depth depth_;
  std::array<Bounds, 3> bounds_;
};

}  // namespace forebay::bp
