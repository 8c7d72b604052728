#include "io/session/copy.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/checksum.h"
#include "container/characteristics.h"

namespace forebay::io {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{128} << 10;  // what stays in the second level of the cache

template <class T>
void count_classes(std::span<const std::byte> bytes, const std::vector<double>& breaks,
                   std::vector<uint64_t>& classes) {
  for (uint64_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    const double number = static_cast<double>(value);
    if (!std::isnan(number)) ++classes[std::ranges::upper_bound(breaks, number) - breaks.begin()];
  }
}

// How many values lie below the first break, between the first and the second, ..., at or above the last.
void count_values(ValueType type, std::span<const std::byte> bytes, const std::vector<double>& breaks,
                  std::vector<uint64_t>& classes) {
  switch (type) {
    case ValueType::int8:
      return count_classes<int8_t>(bytes, breaks, classes);
    case ValueType::int16:
      return count_classes<int16_t>(bytes, breaks, classes);
    case ValueType::int32:
      return count_classes<int32_t>(bytes, breaks, classes);
    case ValueType::int64:
      return count_classes<int64_t>(bytes, breaks, classes);
    case ValueType::uint8:
      return count_classes<uint8_t>(bytes, breaks, classes);
    case ValueType::uint16:
      return count_classes<uint16_t>(bytes, breaks, classes);
    case ValueType::uint32:
      return count_classes<uint32_t>(bytes, breaks, classes);
    case ValueType::uint64:
      return count_classes<uint64_t>(bytes, breaks, classes);
    case ValueType::float32:
      return count_classes<float>(bytes, breaks, classes);
    case ValueType::float64:
      return count_classes<double>(bytes, breaks, classes);
    default:
      return;
  }
}

}  // namespace

void take_values(Block& block, std::span<const std::byte> from, std::span<std::byte> into, Statistics statistics,
                 const HistogramSpec* histogram) {
  const DataType type = data_type(block.type);
  const bool is_counted = histogram && statistics == Statistics::full && type.is_number();
  if (is_counted) {
    block.breaks = histogram->breaks;
    block.histogram.assign(block.breaks.size() + 1, 0);
  }
  block.bytes = into.empty() ? from : into;
  const bool is_cut_as_a_shape = block.type != ValueType::string;  // which has none
  const uint64_t hashed = std::max<uint64_t>(hashed_bytes(block.type, block.shape), 1);
  for (uint64_t begin = 0, end = 0; begin < from.size(); begin = end) {
    end = from.size() - begin <= hashed ? from.size() : begin + hashed;
    for (uint64_t at = begin; at < end; at += kPieceBytes) {
      const uint64_t bytes = std::min<uint64_t>(kPieceBytes, end - at);
      if (!into.empty()) std::memcpy(into.data() + at, from.data() + at, bytes);
      const auto piece = block.bytes.subspan(at, bytes);  // what is checked is what is written
      if (statistics != Statistics::none) block.characteristics.merge(container::characterise(type, piece));
      if (is_counted) count_values(block.type, piece, block.breaks, block.histogram);
    }
    if (is_cut_as_a_shape) block.hashes.push_back(hash64(block.bytes.subspan(begin, end - begin)));
  }
}

}  // namespace forebay::io
