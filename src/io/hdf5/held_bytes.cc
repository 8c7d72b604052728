#include "io/hdf5/held_bytes.h"

#include <algorithm>
#include <iterator>

namespace forebay::hdf5 {

void HeldBytes::split(uint64_t offset) {
  auto after = pieces_.lower_bound(offset);
  if (after == pieces_.begin()) return;
  auto& [begin, bytes] = *std::prev(after);
  if (begin + bytes.size() <= offset) return;
  const auto cut = bytes.begin() + static_cast<ptrdiff_t>(offset - begin);
  pieces_.emplace_hint(after, offset, std::vector(cut, bytes.end()));
  bytes.erase(cut, bytes.end());
}

void HeldBytes::put(uint64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const uint64_t end = offset + bytes.size();
  split(offset);
  split(end);
  pieces_.erase(pieces_.lower_bound(offset), pieces_.lower_bound(end));
  pieces_.emplace(offset, std::vector(bytes.begin(), bytes.end()));
}

void HeldBytes::overlay(uint64_t offset, std::span<std::byte> bytes) const {
  const uint64_t end = offset + bytes.size();
  auto piece = pieces_.upper_bound(offset);
  if (piece != pieces_.begin()) --piece;
  for (; piece != pieces_.end() && piece->first < end; ++piece) {
    const auto& [begin, held] = *piece;
    const uint64_t from = std::max(begin, offset), to = std::min(begin + held.size(), end);
    if (from < to) std::ranges::copy(std::span(held).subspan(from - begin, to - from), bytes.begin() + (from - offset));
  }
}

void HeldBytes::cut(uint64_t size) {
  split(size);
  pieces_.erase(pieces_.lower_bound(size), pieces_.end());
}

}  // namespace forebay::hdf5
