#include "codec/halo/halo_choice.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace forebay::codec {
namespace {

constexpr size_t kMaxWithin = 256;  // copies within one block: each is compared with all others

// The part of a copy whose destination is `part`.
Copy restricted(const Copy& copy, const Box& part) {
  Copy result = copy;
  for (size_t axis = 0; axis < kAxes; ++axis) {
    result.to[axis] = part.begin[axis];
    result.from[axis] += part.begin[axis] - copy.to[axis];
  }
  result.extent = part.extent();
  return result;
}

class Choice {
 public:
  Choice(const CellNumbers& cells, size_t width, std::span<const std::byte> in, uint64_t min_saved_bytes)
      : cells_(cells),
        width_(width),
        in_(in),
        min_saved_bytes_(min_saved_bytes),
        budget_(kMaxCopiedPerCell * cells.total()),
        covered_(cells.total()) {}

  void consider(const Copy& copy) {
    if (count_ == kMaxCopies || !is_worth_it(copy)) return;
    if (!copy.within_block()) return accept(copy, between_[copy.to_block], between_[copy.to_block].size());
    std::vector<Copy>& order = within_[copy.to_block];
    if (order.size() == kMaxWithin) return;
    // After all that restore cells of its source, before all whose source it restores.
    size_t earliest = 0, latest = order.size();
    for (size_t i = 0; i < order.size(); ++i) {
      if (!destination(order[i]).common(source(copy)).empty()) earliest = i + 1;
      if (!source(order[i]).common(destination(copy)).empty()) latest = std::min(latest, i);
    }
    if (earliest <= latest) return accept(copy, order, earliest);
    split(copy, source(order[latest]));
  }

  // In the order in which they are to be made.
  std::vector<Copy> take() {
    std::vector<Copy> all;
    for (auto& [block, copies] : within_) std::ranges::move(copies, std::back_inserter(between_[block]));
    for (auto& [block, copies] : between_) std::ranges::move(copies, std::back_inserter(all));
    return all;
  }

 private:
  // Whether enough cells that are not covered yet differ from the cell before them.
  bool is_worth_it(const Copy& copy) const {
    if (volume(copy.extent) > budget_) return false;
    const uint64_t wanted = (min_saved_bytes_ + width_ - 1) / width_;
    uint64_t saved = 0;
    return !cells_.for_each_row(copy, [&](size_t, size_t to, size_t count) {
      for (size_t i = to; i < to + count; ++i) saved += covered_[i] == 0 && is_new(i);
      return saved < wanted;
    });
  }

  bool is_new(size_t cell) const {
    return cell == 0 || std::memcmp(&in_[cell * width_], &in_[(cell - 1) * width_], width_) != 0;
  }

  void accept(const Copy& copy, std::vector<Copy>& order, size_t at) {
    order.insert(order.begin() + static_cast<ptrdiff_t>(at), copy);
    ++count_;
    budget_ -= volume(copy.extent);
    cells_.for_each_row(copy.to_block, destination(copy),
                        [&](size_t first, size_t count) { std::memset(&covered_[first], 1, count); });
  }

  // Considers the parts of a copy inside and outside of a box apart.
  void split(const Copy& copy, const Box& at) {
    Box rest = destination(copy);
    const Box inside = rest.common(at);
    if (volume(inside.extent()) == volume(copy.extent)) return;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      Box low = rest, high = rest;
      low.end[axis] = rest.begin[axis] = inside.begin[axis];
      high.begin[axis] = rest.end[axis] = inside.end[axis];
      for (const Box& part : {low, high})
        if (!part.empty()) consider(restricted(copy, part));
    }
    consider(restricted(copy, inside));
  }

  const CellNumbers& cells_;
  const size_t width_;
  const std::span<const std::byte> in_;
  const uint64_t min_saved_bytes_;
  uint64_t budget_;
  size_t count_ = 0;
  std::vector<uint8_t> covered_;
  std::map<uint32_t, std::vector<Copy>> between_, within_;  // by destination; from other blocks, and the block itself
};

}  // namespace

Bytes choose_copies(const CellNumbers& cells, size_t width, std::span<const std::byte> in, std::vector<Copy> found) {
  if (found.empty()) return {};
  std::ranges::stable_sort(found, std::greater(), [](const Copy& copy) { return volume(copy.extent); });
  for (uint64_t min_saved_bytes = kMinSavedBytes; min_saved_bytes <= in.size(); min_saved_bytes *= 2) {
    Choice choice(cells, width, in, min_saved_bytes);
    for (const Copy& copy : found) choice.consider(copy);
    const std::vector<Copy> copies = choice.take();
    if (copies.empty()) return {};
    if (Bytes parameters = encode_copies(cells, copies); !parameters.empty()) return parameters;
  }
  return {};
}

}  // namespace forebay::codec
