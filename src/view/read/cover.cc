#include "view/read/cover.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace forebay::view {
namespace {

constexpr uint64_t kMostComparisons = uint64_t{1} << 31;  // some seconds

bool touch(const Box& a, const Box& b) {
  for (size_t d = 0; d < a.begin.size(); ++d)
    if (a.begin[d] >= b.begin[d] + b.count[d] || b.begin[d] >= a.begin[d] + a.count[d]) return false;
  return !is_empty(a) && !is_empty(b);
}

// Blocks of one place: the last one hides the others.
void drop_hidden_twins(std::vector<Share>& shares) {
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const Box &one = shares[a].box, &other = shares[b].box;
    return std::tie(one.begin, one.count, a) < std::tie(other.begin, other.count, b);
  });
  std::vector<bool> hidden(shares.size());
  for (size_t i = 1; i < order.size(); ++i) {
    const Box &before = shares[order[i - 1]].box, &box = shares[order[i]].box;
    hidden[order[i - 1]] = before.begin == box.begin && before.count == box.count;
  }
  size_t kept = 0;
  for (size_t i = 0; i < shares.size(); ++i)
    if (!hidden[i]) {
      if (kept != i) shares[kept] = std::move(shares[i]);
      ++kept;
    }
  shares.resize(kept);
}

std::unexpected<Error> too_many_overlaps() {
  return fail(ErrorKind::limit, "its blocks overlap each other in too many ways", {}, {}, "read single blocks");
}

// For each share, the later ones that it overlaps. `shares` are in the order of writing.
Result<std::vector<std::vector<size_t>>> overlaps(const std::vector<Share>& shares, size_t most) {
  std::vector<std::vector<size_t>> later(shares.size());
  std::vector<size_t> order(shares.size()), open;
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return shares[i].box.begin[0]; });
  uint64_t compared = 0, found = 0;
  for (const size_t i : order) {
    const uint64_t begin = shares[i].box.begin[0];
    std::erase_if(open, [&](size_t j) { return shares[j].box.begin[0] + shares[j].box.count[0] <= begin; });
    for (const size_t j : open)
      if (touch(shares[i].box, shares[j].box)) {
        later[std::min(i, j)].push_back(std::max(i, j));
        ++found;
      }
    compared += open.size();
    if (found > most || compared > kMostComparisons) return too_many_overlaps();
    open.push_back(i);
  }
  return later;
}

// What can be seen of a share below those that lie over it.
Result<std::vector<Box>> visible(const Share& share, std::span<const size_t> over, const std::vector<Share>& shares,
                                 size_t most) {
  std::vector<Box> left{share.box};
  for (const size_t other : over) {
    std::vector<Box> next;
    for (const Box& box : left) {
      if (!touch(box, shares[other].box)) {
        next.push_back(box);
        continue;
      }
      for (Box& rest : without(box, shares[other].box)) next.push_back(std::move(rest));
      if (next.size() > most) return too_many_overlaps();
    }
    left = std::move(next);
  }
  return left;
}

}  // namespace

bool is_empty(const Box& box) { return std::ranges::find(box.count, 0u) != box.count.end(); }

uint64_t volume(const Box& box) { return element_count(box.count); }

Box intersection(const Box& a, const Box& b) {
  Box both = a;
  for (size_t d = 0; d < a.begin.size(); ++d) {
    const uint64_t begin = std::max(a.begin[d], b.begin[d]);
    const uint64_t end = std::min(a.begin[d] + a.count[d], b.begin[d] + b.count[d]);
    if (end <= begin) {
      std::ranges::fill(both.count, 0u);
      return both;
    }
    both.begin[d] = begin;
    both.count[d] = end - begin;
  }
  return both;
}

std::vector<Box> without(const Box& box, const Box& hole) {
  const Box common = intersection(box, hole);
  if (is_empty(common)) return {box};
  std::vector<Box> rest;
  Box middle = box;  // what is left to be cut in the dimensions that follow
  for (size_t d = 0; d < box.begin.size(); ++d) {
    const uint64_t end = middle.begin[d] + middle.count[d], hole_end = common.begin[d] + common.count[d];
    if (common.begin[d] > middle.begin[d]) {
      rest.push_back(middle);
      rest.back().count[d] = common.begin[d] - middle.begin[d];
    }
    if (hole_end < end) {
      rest.push_back(middle);
      rest.back().begin[d] = hole_end;
      rest.back().count[d] = end - hole_end;
    }
    middle.begin[d] = common.begin[d];
    middle.count[d] = common.count[d];
  }
  return rest;
}

BlockIndex::BlockIndex(std::vector<Box> places) : places_(std::move(places)), order_(places_.size()) {
  std::iota(order_.begin(), order_.end(), size_t{0});
  if (places_.empty() || places_.front().begin.empty()) return;
  std::ranges::stable_sort(order_, {}, [&](size_t i) { return places_[i].begin[0]; });
  latest_ends_.reserve(order_.size());
  uint64_t latest = 0;
  for (const size_t i : order_)
    latest_ends_.push_back(latest = std::max(latest, places_[i].begin[0] + places_[i].count[0]));
}

// Calls visit for the blocks that touch [begin, end) of the first dimension, and for some others before it.
template <class Visit>
void BlockIndex::for_each_near(uint64_t begin, uint64_t end, const Visit& visit) const {
  if (latest_ends_.empty()) {
    for (const size_t i : order_) visit(i);
    return;
  }
  const auto after = std::ranges::lower_bound(order_, end, {}, [&](size_t i) { return places_[i].begin[0]; });
  for (auto i = static_cast<size_t>(after - order_.begin()); i > 0 && latest_ends_[i - 1] > begin; --i)
    visit(order_[i - 1]);
}

std::vector<size_t> BlockIndex::touching(const Box& box) const {
  std::vector<size_t> found;
  const bool scalar = box.begin.empty();
  for_each_near(scalar ? 0 : box.begin[0], scalar ? 1 : box.begin[0] + box.count[0], [&](size_t i) {
    if (touch(places_[i], box)) found.push_back(i);
  });
  std::ranges::sort(found);
  return found;
}

std::optional<size_t> BlockIndex::covering(std::span<const uint64_t> element) const {
  std::optional<size_t> last;
  const Box box{Shape(element.begin(), element.end()), Shape(element.size(), 1)};
  for_each_near(element.empty() ? 0 : element[0], element.empty() ? 1 : element[0] + 1, [&](size_t i) {
    if ((!last || i > *last) && touch(places_[i], box)) last = i;
  });
  return last;
}

Result<Cover> cover(const BlockIndex& index, const Box& box, size_t most_shares) {
  Cover found;
  for (const size_t block : index.touching(box)) found.shares.push_back({block, intersection(index.place(block), box)});
  if (box.begin.empty()) {
    if (found.shares.size() > 1) found.shares.erase(found.shares.begin(), found.shares.end() - 1);
    found.holes = found.shares.empty() ? 1 : 0;
    return found;
  }
  drop_hidden_twins(found.shares);
  FOREBAY_TRY(const auto later, overlaps(found.shares, most_shares));
  std::vector<Share> disjoint;
  disjoint.reserve(found.shares.size());
  uint64_t covered = 0;
  for (size_t i = 0; i < found.shares.size(); ++i) {
    FOREBAY_TRY(auto boxes, visible(found.shares[i], later[i], found.shares, most_shares));
    for (Box& part : boxes) {
      covered += volume(part);
      disjoint.push_back({found.shares[i].block, std::move(part)});
    }
    if (disjoint.size() > most_shares) return too_many_overlaps();
  }
  found.shares = std::move(disjoint);
  found.holes = volume(box) - covered;
  return found;
}

}  // namespace forebay::view
