#include "container/characteristics.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "container/characteristics_kernel.h"

namespace forebay::container {

void Characteristics::merge(const Characteristics& other) {
  if (other.count > 0) {
    min = count > 0 ? std::min(min, other.min) : other.min;
    max = count > 0 ? std::max(max, other.max) : other.max;
    count += other.count;
    sum += other.sum;
    sum_of_squares += other.sum_of_squares;
  }
  nans += other.nans;
  infinities += other.infinities;
  holes += other.holes;
}

namespace {

double add_lanes(const double (&lanes)[kLanes]) {
  const double sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  // Sums that overflowed both ways are NaN, whose sign and payload differ between machines.
  return sum == sum ? sum : std::numeric_limits<double>::quiet_NaN();
}

uint64_t add_lanes(const uint64_t (&lanes)[kLanes]) {
  uint64_t sum = 0;
  for (const uint64_t lane : lanes) sum += lane;
  return sum;
}

Characteristics summarise(const LaneSums& lanes, uint64_t elements) {
  Characteristics result;
  result.nans = add_lanes(lanes.nans);
  result.infinities = add_lanes(lanes.not_finite) - result.nans;
  result.count = elements - result.nans - result.infinities;
  if (result.count == 0) return result;
  result.min = *std::ranges::min_element(lanes.min);
  result.max = *std::ranges::max_element(lanes.max);
  result.sum = add_lanes(lanes.sum);
  result.sum_of_squares = add_lanes(lanes.sum_of_squares);
  return result;
}

}  // namespace

Characteristics characterise(const DataType& type, std::span<const std::byte> bytes) {
  return characterise_on(machine_instruction_set(), type, bytes);
}

Characteristics characterise(const DataType& type, std::span<const std::byte> bytes, const Meaning& meaning) {
  if (!can_mean(type)) return characterise(type, bytes);
  if (!meaning.has_holes()) return characterise(stored_type(meaning, type), bytes);
  const Meaning holes = without_packing(meaning);
  const DataType to = with_room_for_nan(type);
  const auto scan = find_scan(machine_instruction_set(), to);
  constexpr size_t kAtOnce = 4096;  // elements, a multiple of the lanes
  std::vector<std::byte> marked(kAtOnce * to.size);
  LaneSums lanes;
  uint64_t elements = 0, found = 0;
  while (bytes.size() >= type.size) {
    const size_t some = std::min(kAtOnce, bytes.size() / type.size);
    found += to_meant(holes, type, to, bytes.first(some * type.size), marked.data());
    scan(marked.data(), some, lanes);
    elements += some;
    bytes = bytes.subspan(some * type.size);
  }
  Characteristics result = summarise(lanes, elements);
  result.nans -= found;
  result.holes = found;
  return result;
}

Characteristics characterise_on(InstructionSet set, const DataType& type, std::span<const std::byte> bytes) {
  if (!type.is_number() || bytes.size() < type.size) return {};
  LaneSums lanes;
  const auto scan = find_scan(set, type);
  scan(bytes.data(), bytes.size() / type.size, lanes);
  return summarise(lanes, bytes.size() / type.size);
}

}  // namespace forebay::container
