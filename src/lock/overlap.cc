#include "lock/overlap.h"

#include <algorithm>

#include "lock/term_overlap.h"

namespace forebay::lock {
namespace {

constexpr uint64_t kEffort = 1u << 25;

// False when it is used up.
bool spend(uint64_t& effort) { return effort > 0 && --effort > 0; }

bool terms_overlap(const Region& a, const Term& s, const Region& b, const Term& t, uint64_t& effort) {
  if (s.level_count == 0 && t.level_count == 0) return true;  // whoever asks has compared the bounds
  return overlap(Shape(a, s), Shape(b, t), effort);
}

// The first term of an ordered region, from `from` on, that ends after `offset`; near ones are found fastest.
size_t seek(const Region& region, size_t from, uint64_t offset) {
  const std::span<const Term> terms = region.terms();
  const auto before = [&](const Term& term) { return bounds_of(region, term).end <= offset; };
  size_t step = 1;
  while (from + step <= terms.size() && before(terms[from + step - 1])) {
    from += step;
    step *= 2;
  }
  const size_t to = std::min(from + step, terms.size());
  return static_cast<size_t>(std::partition_point(terms.begin() + static_cast<ptrdiff_t>(from),
                                                  terms.begin() + static_cast<ptrdiff_t>(to), before) -
                             terms.begin());
}

// Both are ordered: from one pair of terms with overlapping bounds to the next.
bool leap(const Region& a, const Region& b, uint64_t& effort) {
  size_t i = 0, j = 0;
  while (true) {
    i = seek(a, i, b.terms()[j].start);
    if (i == a.terms().size()) return false;
    j = seek(b, j, a.terms()[i].start);
    if (j == b.terms().size()) return false;
    if (!spend(effort)) return true;
    const Term &s = a.terms()[i], &t = b.terms()[j];
    const Extent s_box = bounds_of(a, s), t_box = bounds_of(b, t);
    if (s_box.end <= t_box.first) continue;
    if (terms_overlap(a, s, b, t, effort)) return true;
    if (++(s_box.end <= t_box.end ? i : j) == (s_box.end <= t_box.end ? a : b).terms().size()) return false;
  }
}

// Only `list` is ordered: each term of the other one is looked up in it.
bool look_up(const Region& list, const Region& other, uint64_t& effort) {
  for (const Term& term : other.terms()) {
    if (!spend(effort)) return true;
    const Extent box = bounds_of(other, term);
    if (apart(box, list.bounds())) continue;
    for (size_t i = seek(list, 0, box.first); i < list.terms().size() && list.terms()[i].start < box.end; ++i)
      if (!spend(effort) || terms_overlap(list, list.terms()[i], other, term, effort)) return true;
  }
  return false;
}

struct Box {
  Extent extent;
  const Term* term;
};

// The boxes of the terms that reach into `bounds`, in order of their starts.
std::vector<Box> boxes_within(const Region& region, const Extent& bounds, uint64_t& effort) {
  effort -= std::min<uint64_t>(effort, region.terms().size());
  std::vector<Box> boxes;
  for (const Term& term : region.terms())
    if (const Extent box = bounds_of(region, term); !apart(box, bounds)) boxes.push_back({box, &term});
  const auto by_start = [](const Box& a, const Box& b) { return a.extent.first < b.extent.first; };
  if (!std::is_sorted(boxes.begin(), boxes.end(), by_start)) std::sort(boxes.begin(), boxes.end(), by_start);
  return boxes;
}

// One side of a sweep: the boxes that have begun, but for those that were found to have ended.
struct Side {
  const Region& region;
  std::vector<Box> boxes;
  size_t next = 0;
  std::vector<const Box*> open;

  bool done() const { return next == boxes.size(); }

  // Opens the next box and compares it with those that are open on the other side.
  bool advance(Side& other, uint64_t& effort) {
    const Box& box = boxes[next++];
    open.push_back(&box);
    for (size_t i = 0; i < other.open.size();) {
      if (!spend(effort)) return true;
      if (other.open[i]->extent.end <= box.extent.first) {
        other.open[i] = other.open.back();
        other.open.pop_back();
      } else if (terms_overlap(region, *box.term, other.region, *other.open[i]->term, effort)) {
        return true;
      } else {
        ++i;
      }
    }
    return false;
  }
};

// Neither is ordered.
bool sweep(const Region& a, const Region& b, uint64_t& effort) {
  Side left{a, boxes_within(a, b.bounds(), effort), 0, {}}, right{b, boxes_within(b, a.bounds(), effort), 0, {}};
  while (!left.done() || !right.done()) {
    if (!spend(effort)) return true;
    const bool left_first =
        right.done() || (!left.done() && left.boxes[left.next].extent.first <= right.boxes[right.next].extent.first);
    if (left_first ? left.advance(right, effort) : right.advance(left, effort)) return true;
  }
  return false;
}

}  // namespace

bool overlap(const Region& a, const Region& b, uint64_t& effort) {
  if (a.empty() || b.empty() || apart(a.bounds(), b.bounds())) return false;
  if (!spend(effort)) return true;
  if (a.ordered() && b.ordered()) return leap(a, b, effort);
  if (a.ordered()) return look_up(a, b, effort);
  if (b.ordered()) return look_up(b, a, effort);
  return sweep(a, b, effort);
}

bool overlap(const Region& a, const Region& b) {
  uint64_t effort = kEffort;
  return overlap(a, b, effort);
}

}  // namespace forebay::lock
