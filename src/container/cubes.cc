#include "container/cubes.h"

#include <algorithm>
#include <cmath>

#include "container/cubes_kernel.h"

namespace forebay::container {

namespace {

constexpr uint64_t kCubeElements = 4096;
constexpr size_t kCubeDimensions = 3;  // that are cut, unless so few elements lie in them

// The largest number of which `power` factors are at most `most`.
uint64_t root(uint64_t most, size_t power) {
  if (power == 1) return most;
  uint64_t r = 1;
  const auto fits = [&](uint64_t side) {
    uint64_t product = 1;
    for (size_t i = 0; i < power && product <= most; ++i) product *= side;
    return product <= most;
  };
  while (fits(r + 1)) ++r;
  return r;
}

// The first of the dimensions that are cut into sides of more than one element.
size_t first_cut(const Shape& shape) {
  size_t first = shape.size();
  uint64_t elements = 1;
  while (first > 0 && (shape.size() - first < kCubeDimensions || elements < kCubeElements)) {
    --first;
    elements = std::min(elements * std::min(shape[first], kCubeElements), kCubeElements);
  }
  return first;
}

float rounded_down(double value) {
  const auto nearest = static_cast<float>(value);
  return nearest > value ? std::nextafter(nearest, -HUGE_VALF) : nearest;
}

// Large integers were rounded when they became doubles.
Cube cube_of(Extremes found, const DataType& type) {
  if (type.kind != Kind::floating && type.size == 8) {
    constexpr double kExact = 0x1p53;
    if (std::abs(found.min) >= kExact) found.min = std::nextafter(found.min, -HUGE_VAL);
    if (std::abs(found.max) >= kExact) found.max = std::nextafter(found.max, HUGE_VAL);
  }
  return {.min = rounded_down(found.min), .max = -rounded_down(-found.max), .has_nan = found.has_nan};
}

// Where an element lies.
Shape coordinates_of(uint64_t element, const Shape& shape) {
  Shape at(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d]) at[d] = element % shape[d];
  return at;
}

// Goes through a stretch of an array's elements.
class CubeScan {
 public:
  CubeScan(const DataType& type, const Shape& shape, uint64_t first, uint64_t elements)
      : type_(type),
        shape_(shape),
        grid_(cube_grid(shape)),
        steps_(shape.size()),
        find_(find_extremes(machine_instruction_set(), type)),
        at_(coordinates_of(first, shape)) {
    uint64_t step = 1;
    for (size_t d = shape.size(); d-- > 0; step *= grid_.counts[d]) steps_[d] = step;
    make_room(coordinates_of(first + elements - 1, shape));
  }

  CubeStretch run(std::span<const std::byte> bytes) {
    uint64_t left = bytes.size() / type_.size;
    for (const std::byte* from = bytes.data(); left > 0;) {
      const uint64_t taken = add_rows(from, left);
      from += taken * type_.size;
      left -= taken;
    }
    return std::move(found_);
  }

 private:
  // All cubes from the first to the last that can be touched: up to the first dimension in which the stretch's ends
  // differ they are the same, and behind that they are any.
  void make_room(const Shape& last) {
    uint64_t low = 0, high = 0;
    bool same = true;
    for (size_t d = 0; d < shape_.size(); ++d) {
      low += same ? at_[d] / grid_.sides[d] * steps_[d] : 0;
      high += (same ? last[d] / grid_.sides[d] : grid_.counts[d] - 1) * steps_[d];
      same = same && at_[d] == last[d];
    }
    found_.first = low;
    found_.cubes.resize(high - low + 1);
  }

  // Takes in what lies in one row, or in as many whole rows as lie in the same cubes. How many elements these are.
  uint64_t add_rows(const std::byte* from, uint64_t left) {
    const size_t x = shape_.size() - 1;
    const uint64_t width = shape_[x];
    const bool has_rows = x > 0 && at_[x] == 0 && left >= width;
    const uint64_t in_band =
        x > 0 ? std::min(grid_.sides[x - 1] - at_[x - 1] % grid_.sides[x - 1], shape_[x - 1] - at_[x - 1]) : 1;
    const uint64_t rows = has_rows ? std::min(left / width, in_band) : 1;
    const uint64_t columns = std::min(left, width - at_[x]);
    add_band(from, rows, columns);
    if (at_[x] + columns < width) {
      at_[x] += columns;
    } else {
      at_[x] = 0;
      next_rows(rows);
    }
    return rows * columns;
  }

  void add_band(const std::byte* from, uint64_t rows, uint64_t columns) {
    const size_t x = shape_.size() - 1;
    const uint64_t side = grid_.sides[x], row_bytes = shape_[x] * type_.size;
    uint64_t number = 0;
    for (size_t d = 0; d < x; ++d) number += at_[d] / grid_.sides[d] * steps_[d];
    for (uint64_t begin = at_[x], end = at_[x] + columns; begin < end;) {
      const uint64_t stop = std::min(end, (begin / side + 1) * side);
      const Extremes found = find_(from + (begin - at_[x]) * type_.size, stop - begin, rows, row_bytes);
      found_.cubes[number + begin / side - found_.first].merge(cube_of(found, type_));
      begin = stop;
    }
  }

  void next_rows(uint64_t rows) {
    size_t d = shape_.size() - 1;
    if (d == 0) return;
    at_[--d] += rows;
    for (; d > 0 && at_[d] == shape_[d]; --d) {
      at_[d] = 0;
      ++at_[d - 1];
    }
  }

  const DataType& type_;
  const Shape& shape_;
  const CubeGrid grid_;
  Shape steps_;  // from a cube's number to that of the next one in a dimension
  const FindExtremes find_;
  Shape at_;  // the next element
  CubeStretch found_;
};

}  // namespace

uint64_t CubeGrid::cubes() const {
  uint64_t product = 1;
  for (const uint64_t count : counts) product *= count;
  return product;
}

CubeGrid cube_grid(const Shape& shape) {
  CubeGrid grid{.sides = Shape(shape.size(), 1), .counts = shape};
  std::vector<size_t> cut;
  for (size_t d = shape.size(); d-- > first_cut(shape);) cut.push_back(d);
  std::ranges::stable_sort(cut, {}, [&](size_t d) { return shape[d]; });
  uint64_t elements = kCubeElements;
  for (size_t i = 0; i < cut.size(); ++i) {
    const uint64_t size = shape[cut[i]];
    if (size == 0) continue;
    const uint64_t side = std::min(size, root(elements, cut.size() - i));
    grid.sides[cut[i]] = side;
    grid.counts[cut[i]] = (size + side - 1) / side;
    elements /= side;
  }
  return grid;
}

void Cube::merge(const Cube& other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  has_nan = has_nan || other.has_nan;
}

bool can_have_cubes(const Catalogue& catalogue, const VariableRow& variable) {
  if (!variable.type.is_number() || variable.filtered || variable.partial || variable.extent_count != 1) return false;
  const uint64_t elements = catalogue.bytes_of(variable) / variable.type.size;
  return elements > kCubeElements && element_count(catalogue.shapes[variable.shape]) == elements;
}

CubeStretch cubes_of(const DataType& type, const Shape& shape, uint64_t first, std::span<const std::byte> bytes) {
  if (bytes.size() < type.size) return {};
  return CubeScan(type, shape, first, bytes.size() / type.size).run(bytes);
}

CubeStretch cubes_of(const DataType& type, const Shape& shape, uint64_t first, std::span<const std::byte> bytes,
                     const Meaning& meaning) {
  if (!can_mean(type)) return cubes_of(type, shape, first, bytes);
  if (!meaning.has_holes()) return cubes_of(stored_type(meaning, type), shape, first, bytes);
  const DataType to = with_room_for_nan(type);
  std::vector<std::byte> marked(bytes.size() / type.size * to.size);
  to_meant(without_packing(meaning), type, to, bytes, marked.data());
  CubeStretch stretch = cubes_of(to, shape, first, marked);
  const bool was_rounded = type.kind != Kind::floating && type.size == 8;
  for (Cube& cube : stretch.cubes) {
    if (!was_rounded || cube.min > cube.max) continue;
    cube.min = std::nextafter(cube.min, -HUGE_VALF);
    cube.max = std::nextafter(cube.max, HUGE_VALF);
  }
  return stretch;
}

}  // namespace forebay::container
