#include <algorithm>
#include <cstring>

#include "format/hdf5_filter_steps.h"

namespace forebay::format::hdf5 {

// All first bytes of the elements lie before all second ones, and so on. What is no whole element follows as it was.
std::optional<Bytes> undo_shuffle(FilterValues values, FilterBytes stored, uint64_t most) {
  if (values.empty() || values[0] == 0 || stored.size() > most) return {};
  const size_t width = values[0], elements = stored.size() / width;
  Bytes raw(stored.begin(), stored.end());
  if (width == 1 || elements <= 1) return raw;
  constexpr size_t kTogether = 4096;  // elements of which what is written stays in the nearest cache
  for (size_t begin = 0; begin < elements; begin += kTogether) {
    const size_t end = std::min(elements, begin + kTogether);
    for (size_t byte = 0; byte < width; ++byte) {
      const std::byte* const from = stored.data() + byte * elements;
      std::byte* const to = raw.data() + byte;
      for (size_t i = begin; i < end; ++i) to[i * width] = from[i];
    }
  }
  return raw;
}

namespace {

uint32_t fletcher32(FilterBytes bytes) {
  constexpr size_t kMostWords = 360;  // that a sum of 32 bits takes before it is folded
  uint32_t sum = 0, sum_of_sums = 0;
  const auto fold = [&] {
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum_of_sums = (sum_of_sums & 0xFFFF) + (sum_of_sums >> 16);
  };
  const std::byte* at = bytes.data();
  for (size_t left = bytes.size() / 2; left > 0;) {
    const size_t words = std::min(left, kMostWords);
    left -= words;
    for (size_t i = 0; i < words; ++i, at += 2) {
      sum += load_be<uint16_t>(at);
      sum_of_sums += sum;
    }
    fold();
  }
  if (bytes.size() % 2 != 0) {
    sum += std::to_integer<uint32_t>(*at) << 8;
    sum_of_sums += sum;
    fold();
  }
  fold();
  return sum_of_sums << 16 | sum;
}

}  // namespace

std::optional<Bytes> undo_fletcher32(FilterValues, FilterBytes stored, uint64_t most) {
  constexpr size_t kChecksum = 4;
  if (stored.size() < kChecksum || stored.size() - kChecksum > most) return {};
  const FilterBytes raw = stored.first(stored.size() - kChecksum);
  const uint32_t computed = fletcher32(raw), said = load_le<uint32_t>(stored.data() + raw.size());
  // HDF5 1.6.2 and before changed the bytes of each half round.
  const uint32_t turned = (computed & 0x00FF00FF) << 8 | (computed >> 8 & 0x00FF00FF);
  if (said != computed && said != turned) return {};
  return Bytes(raw.begin(), raw.end());
}

// Marc Lehmann's LZF, as h5py writes it: a run of bytes, or a distance and a length.
std::optional<Bytes> undo_lzf(FilterValues, FilterBytes stored, uint64_t most) {
  constexpr unsigned kShortestCopy = 32, kLongLength = 7;
  Bytes raw(most);
  size_t at = 0, out = 0;
  const auto next = [&] { return std::to_integer<unsigned>(stored[at++]); };
  while (at < stored.size()) {
    const unsigned control = next();
    if (control < kShortestCopy) {
      const size_t length = control + 1;
      if (length > stored.size() - at || length > most - out) return {};
      std::memcpy(raw.data() + out, stored.data() + at, length);
      at += length;
      out += length;
      continue;
    }
    size_t length = control >> 5;
    if (at + (length == kLongLength ? 2 : 1) > stored.size()) return {};
    if (length == kLongLength) length += next();
    length += 2;
    const size_t distance = ((control & 31) << 8 | next()) + 1;
    if (distance > out || length > most - out) return {};
    for (const size_t end = out + length; out < end; ++out) raw[out] = raw[out - distance];  // may overlap itself
  }
  raw.resize(out);
  return raw;
}

}  // namespace forebay::format::hdf5
