// Cubes: bounds of the values in small boxes of an array, so that a question about values need not read the most of it
// (docs/format.md, "Cubes"). Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/catalogue.h"
#include "base/datatype.h"
#include "base/meaning.h"
#include "base/shape.h"

namespace forebay::container {

// How an array is cut into cubes, which are numbered in C order. In each dimension those at the far edge may be
// smaller.
struct CubeGrid {
  Shape sides;   // of a cube, in elements
  Shape counts;  // of cubes
  uint64_t cubes() const;
};

// About 4096 elements to a cube: 16 a side in three dimensions, 64 in two.
CubeGrid cube_grid(const Shape& shape);

// Of the values that are numbers, infinities included: min <= value <= max, with bounds rounded outward. min > max if
// there are none.
struct Cube {
  float min = std::numeric_limits<float>::infinity(), max = -std::numeric_limits<float>::infinity();
  bool has_nan = false;

  bool operator==(const Cube&) const = default;
  void merge(const Cube& other);
};

// All cubes of a variable.
struct VariableCubes {
  uint32_t variable = 0;  // in the catalogue
  std::vector<Cube> cubes;
};

// Whether a variable may have cubes: more than 4096 numbers, which lie in one extent and are not filtered.
bool can_have_cubes(const Catalogue& catalogue, const VariableRow& variable);

// Some of an array's cubes: those from number `first` on.
struct CubeStretch {
  uint64_t first = 0;
  std::vector<Cube> cubes;
};

// The cubes that the elements in `bytes` lie in, and perhaps some more, which are left as they are by default. The
// elements are a stretch, in C order, of an array of `shape`, from element `first` on; `type` is a number's.
CubeStretch cubes_of(const DataType& type, const Shape& shape, uint64_t first, std::span<const std::byte> bytes);

// The same of what is stored, with regard to what it means: holes are as NaN, and numbers unsigned if they are.
CubeStretch cubes_of(const DataType& type, const Shape& shape, uint64_t first, std::span<const std::byte> bytes,
                     const Meaning& meaning);

}  // namespace forebay::container
