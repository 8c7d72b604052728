#include "lock/term_overlap.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace forebay::lock {
namespace {

__extension__ using Wide = __int128;

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

// The least k with low <= k * step % modulus <= high, or kNone; 0 < low <= high < modulus. Euclid's algorithm: if no
// multiple of the step hits before the first wrap, the question is the same for the wraps, modulo the step.
uint64_t first_between(uint64_t step, uint64_t modulus, uint64_t low, uint64_t high) {
  if (step == 0) return kNone;
  if (step > modulus / 2) {
    step = modulus - step;
    std::swap(low, high);
    low = modulus - low;
    high = modulus - high;
  }
  const uint64_t k = (low - 1) / step + 1;
  if (k <= high / step) return k;
  const uint64_t wraps = first_between((step - modulus % step) % step, step, low % step, high % step);
  if (wraps == kNone) return kNone;
  return static_cast<uint64_t>((Wide{modulus} * wraps + low - 1) / step + 1);
}

// Part of a term: its blocks at one level, of which the first begins at `at`. All bytes of the term are below 2^63, and
// so are all numbers here.
struct Blocks {
  const Shape* shape;
  size_t level;
  int64_t at;

  bool is_segment() const { return level == shape->levels.size(); }
  int64_t stride() const { return is_segment() ? 0 : static_cast<int64_t>(shape->levels[level].stride); }
  int64_t last() const { return static_cast<int64_t>(shape->levels[level].count) - 1; }
  int64_t end() const { return at + static_cast<int64_t>(shape->extent[level]); }
  uint64_t segment() const { return shape->extent[shape->levels.size()]; }
  int64_t block() const { return static_cast<int64_t>(shape->extent[level + 1]); }  // the length of one block
  Blocks operator[](int64_t index) const { return {shape, level + 1, at + index * stride()}; }
};

// Compares blocks with blocks, level by level, the greater stride first: only blocks whose bounds overlap can have a
// byte in common, and where they lie follows by division. Of blocks that meet a periodic pattern at the same phase, one
// stands for all.
class Meeting {
 public:
  Meeting(const Shape& a, const Shape& b, uint64_t effort) : effort_(effort), shapes_{&a, &b} {}

  bool meet() {
    return meet({shapes_[0], 0, static_cast<int64_t>(shapes_[0]->start)},
                {shapes_[1], 0, static_cast<int64_t>(shapes_[1]->start)});
  }

  uint64_t effort() const { return effort_; }

 private:
  bool meet(const Blocks& a, const Blocks& b) {
    if (effort_ == 0) return true;
    --effort_;
    if (a.end() <= b.at || b.end() <= a.at) return false;
    if (a.is_segment() && b.is_segment()) return true;
    const bool a_first = a.stride() >= b.stride();
    const Blocks& x = a_first ? a : b;
    const Blocks& y = a_first ? b : a;
    if (y.is_segment()) return meet_segment(x, y);
    return x.stride() == y.stride() ? meet_equal(x, y) : meet_other(x, y);
  }

  struct Range {
    int64_t first, last;
  };

  // The blocks of x whose bounds overlap those of y.
  static Range near(const Blocks& x, const Blocks& y) {
    return {std::max<int64_t>(0, floor_div(y.at - x.at - x.block(), x.stride()) + 1),
            std::min(x.last(), (y.end() - 1 - x.at) / x.stride())};
  }

  bool meet_each(const Blocks& x, int64_t first, int64_t last, const Blocks& y) {
    for (int64_t i = first; i <= last; ++i)
      if (meet(x[i], y)) return true;
    return false;
  }

  bool meet_segment(const Blocks& x, const Blocks& y) {
    const auto [first, last] = near(x, y);
    // A block that begins or ends in the segment has a byte there.
    if (first <= last && (x[last].at >= y.at || x[first].end() <= y.end())) return true;
    return meet_each(x, first, last, y);
  }

  // Blocks i of x and j of y meet as all others do whose indices differ by as much.
  bool meet_equal(const Blocks& x, const Blocks& y) {
    const int64_t stride = x.stride();
    const int64_t first = std::max(-y.last(), floor_div(y.at - x.at - x.block(), stride) + 1);
    const int64_t last = std::min(x.last(), floor_div(y.at + y.block() - 1 - x.at, stride));
    for (int64_t shift = first; shift <= last; ++shift)
      if (meet(x[std::max<int64_t>(0, shift)], y[std::max<int64_t>(0, -shift)])) return true;
    return false;
  }

  // A block of x that would meet nothing more if y went on below its first block has in common with y what its phase
  // says: where it begins modulo y's stride. Of those, the first at each phase stands for all: the later ones meet
  // less, if they reach beyond y's last block.
  bool meet_other(const Blocks& x, const Blocks& y) {
    if (apart_modulo_strides(x, y)) return false;
    const auto [first, last] = near(x, y);
    const int64_t below = std::max<int64_t>(0, y.at + y.block() - y.stride());  // where y would end if it went on there
    const int64_t inside = std::clamp(floor_div(below - x.at - 1, x.stride()) + 1, first, last + 1);
    return meet_each(x, first, inside - 1, y) || meet_phases(x, inside, last, y);
  }

  bool meet_phases(const Blocks& x, int64_t first, int64_t last, const Blocks& y) {
    const auto step = static_cast<uint64_t>(x.stride()), modulus = static_cast<uint64_t>(y.stride());
    const uint64_t phases = modulus / std::gcd(step, modulus);
    const uint64_t count = std::min(static_cast<uint64_t>(last + 1 - first), phases);
    const auto window = static_cast<uint64_t>(x.block() - 1) + static_cast<uint64_t>(y.block());
    for (uint64_t i = 0; i < count; ++i) {
      if (window < modulus) {
        const int64_t end = x[first + static_cast<int64_t>(i)].end();
        const uint64_t skip = first_hit(residue(end - 1 - y.at, modulus), step % modulus, modulus, window);
        if (skip >= count - i) return false;
        i += skip;
      }
      if (meet(x[first + static_cast<int64_t>(i)], y)) return true;
    }
    return false;
  }

  static uint64_t residue(int64_t value, uint64_t modulus) {
    const auto rest = value % static_cast<int64_t>(modulus);
    return static_cast<uint64_t>(rest) + (rest < 0 ? modulus : 0);
  }

  // All distances between segments of x and y are equal modulo every stride's divisor, and none of them is that of two
  // segments that overlap.
  bool apart_modulo_strides(const Blocks& x, const Blocks& y) {
    if (divisors_[0][0] == 0) divisors_ = {divisors_of(*shapes_[0]), divisors_of(*shapes_[1])};
    const uint64_t divisor = std::gcd(divisor_of(x), divisor_of(y));
    const uint64_t window = x.segment() - 1 + y.segment();
    return window < divisor && residue(x.at + static_cast<int64_t>(x.segment() - 1) - y.at, divisor) >= window;
  }

  using Divisors = std::array<uint64_t, kMaxLevels>;

  static Divisors divisors_of(const Shape& shape) {
    Divisors divisors{};
    uint64_t divisor = 0;
    for (size_t level = shape.levels.size(); level-- > 0;)
      divisors[level] = divisor = std::gcd(divisor, shape.levels[level].stride);
    return divisors;
  }

  uint64_t divisor_of(const Blocks& blocks) const { return divisors_[blocks.shape != shapes_[0]][blocks.level]; }

  uint64_t effort_;
  std::array<const Shape*, 2> shapes_;
  std::array<Divisors, 2> divisors_{};  // of the strides from each level on; found when they are first asked for
};

}  // namespace

Shape::Shape(const Region& region, const Term& term) : start(term.start), levels(region.levels(term)) {
  uint64_t reach = extent[levels.size()] = term.length;
  for (size_t level = levels.size(); level-- > 0;)
    extent[level] = reach += (levels[level].count - 1) * levels[level].stride;
}

bool overlap(const Shape& a, const Shape& b, uint64_t& effort) {
  const uint64_t granted = std::min(effort, kTermEffort);
  Meeting meeting(a, b, granted);
  const bool met = meeting.meet();
  effort -= granted - meeting.effort();
  return met;
}

uint64_t first_hit(uint64_t first, uint64_t step, uint64_t modulus, uint64_t window) {
  if (first < window) return 0;
  if (window == 0) return kNone;
  return first_between(step, modulus, modulus - first, modulus - first + window - 1);
}

}  // namespace forebay::lock
