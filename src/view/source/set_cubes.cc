#include "view/source/set_cubes.h"

#include <algorithm>
#include <cmath>

namespace forebay::view {
namespace {

// The shares of the memory for indices that cubes may take, when they are read and when they are kept for others.
constexpr uint64_t kReadShare = 16, kKeptShare = 64;
constexpr uint64_t kVariableBytes = 256;  // beside its cubes

// Whether a block is a box of a stored array of that shape.
bool is_box_of(const Block& block, const Shape& whole) {
  const StoredPart& part = block.stored;
  const Shape& count = block.place.count;
  const size_t leading = part.leading.size(), dimensions = count.size();
  const auto fits = [&](const Shape& one) { return one.empty() || one.size() == dimensions; };
  if (block.indices || part.flat || leading + dimensions != whole.size() || !fits(part.shape) || !fits(part.begin))
    return false;
  for (size_t d = 0; d < leading; ++d)
    if (part.leading[d] >= whole[d]) return false;
  for (size_t d = 0; d < dimensions; ++d) {
    const uint64_t size = whole[leading + d], first = part.begin.empty() ? 0 : part.begin[d];
    if ((part.shape.empty() ? count[d] : part.shape[d]) != size || first > size || count[d] > size - first)
      return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<const StoredCubes> SetCubes::find(const Block& block, const StoredArray& stored) const {
  const Catalogue& catalogue = set_.containers[stored.container].catalogue();
  const VariableRow& variable = catalogue.variables[stored.variable];
  if (stored.reversed || !container::can_have_cubes(catalogue, variable) ||
      !is_box_of(block, catalogue.shapes[variable.shape]))
    return nullptr;
  const auto cubes = of_key({stored.container, variable.key});
  const auto found = cubes->find(stored.variable);
  return found == cubes->end() ? nullptr : std::shared_ptr<const StoredCubes>(cubes, &found->second);
}

std::shared_ptr<const SetCubes::OfKey> SetCubes::of_key(Place place) const {
  const std::lock_guard lock(mutex_);
  if (const auto* const known = kept_.find(place)) return *known;
  const auto made = std::make_shared<const OfKey>(read(place));
  kept_.add(place, made, bytes_of(*made));
  kept_.trim(index_bytes_ / kKeptShare, 1);
  return made;
}

// What cannot be read is as if it were not there: answers are less sharp then, and no less right.
SetCubes::OfKey SetCubes::read(Place place) const {
  const engine::OpenContainer& opened = set_.containers[place.first];
  OfKey cubes;
  if (auto found = opened.reader->read_cubes(place.second, index_bytes_ / kReadShare))
    for (container::VariableCubes& one : *found) {
      const Shape& shape = opened.catalogue().shapes[opened.catalogue().variables[one.variable].shape];
      cubes[one.variable] = {container::cube_grid(shape), std::move(one.cubes)};
    }
  return cubes;
}

uint64_t SetCubes::bytes_of(const OfKey& cubes) {
  uint64_t bytes = kVariableBytes;
  for (const auto& [variable, stored] : cubes) bytes += kVariableBytes + stored.cubes.size() * sizeof(container::Cube);
  return bytes;
}

StoredCubes meant_cubes(const StoredCubes& stored, const Meaning& meaning, const DataType& to) {
  StoredCubes cubes = stored;
  if (!meaning.is_packed()) return cubes;
  const auto outward = [](double value, float towards) {
    const auto nearest = static_cast<float>(value);
    return std::nextafter(nearest, towards);
  };
  for (container::Cube& cube : cubes.cubes) {
    if (cube.min > cube.max) continue;
    double low = meant(meaning, to, cube.min), high = meant(meaning, to, cube.max);
    if (low > high) std::swap(low, high);
    cube.min = outward(low, -HUGE_VALF);
    cube.max = outward(high, HUGE_VALF);
  }
  return cubes;
}

}  // namespace forebay::view
