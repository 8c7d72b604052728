// Random arrays and boxes for tests, and where their bytes lie, found by a loop over coordinates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "base/shape.h"
#include "engine/set/box_layout.h"

namespace forebay::engine {

struct TestArray {
  Shape shape, block;
  uint64_t element_bytes = 1;
};

inline TestArray random_array(std::mt19937& random) {
  TestArray array;
  array.element_bytes = std::vector<uint64_t>{1, 2, 3, 8}[random() % 4];
  const bool contiguous = random() % 3 == 0;
  for (size_t i = random() % 5; i > 0; --i) {
    array.shape.push_back(1 + random() % 6);
    array.block.push_back(contiguous ? array.shape.back() : 1 + random() % (array.shape.back() + 2));
  }
  return array;
}

inline Box random_box(std::mt19937& random, const Shape& shape) {
  Box box;
  for (const uint64_t dim : shape) {
    const bool whole = random() % 3 == 0;
    box.begin.push_back(whole ? 0 : random() % dim);
    box.count.push_back(whole ? dim : 1 + random() % (dim - box.begin.back()));
  }
  return box;
}

// For each byte of the box, in C order, its place among the stored bytes of the array.
inline std::vector<uint64_t> places_of(const TestArray& array, const Box& box) {
  std::vector<uint64_t> places;
  const uint64_t elements = element_count(box.count), in_block = element_count(array.block);
  for (uint64_t element = 0; element < elements; ++element) {
    uint64_t rest = element, number = 0, within = 0, number_stride = 1, within_stride = 1;
    for (size_t i = array.shape.size(); i-- > 0;) {
      const uint64_t at = box.begin[i] + rest % box.count[i];
      rest /= box.count[i];
      number += at / array.block[i] * number_stride;
      within += at % array.block[i] * within_stride;
      number_stride *= (array.shape[i] + array.block[i] - 1) / array.block[i];
      within_stride *= array.block[i];
    }
    for (uint64_t byte = 0; byte < array.element_bytes; ++byte)
      places.push_back((number * in_block + within) * array.element_bytes + byte);
  }
  return places;
}

}  // namespace forebay::engine
