#include "view/query/narrow.h"

#include <algorithm>

#include "view/read/cover.h"

namespace forebay::view {
namespace {

// Cubes of the stored array as the array sees them.
class PlacedCubes {
 public:
  PlacedCubes(const StoredCubes& stored, const Block& block) : stored_(stored), block_(block) {
    leading_ = block.stored.leading.size();
    for (size_t d = 0; d < leading_; ++d)
      first_ = first_ * grid().counts[d] + block.stored.leading[d] / grid().sides[d];
  }

  // The cube, by its place in dimension `d` of the array, that has the index `at` of the array.
  uint64_t cube_at(size_t d, uint64_t at) const { return stored_index(d, at) / grid().sides[leading_ + d]; }

  // Where this cube ends, as an index of the array.
  uint64_t end_of(size_t d, uint64_t cube) const {
    return (cube + 1) * grid().sides[leading_ + d] - stored_index(d, block_.place.begin[d]) + block_.place.begin[d];
  }

  // Of all values in the box, and perhaps of more.
  container::Cube bounds(const Box& box) const {
    container::Cube all;
    add(box, 0, first_, all);
    return all;
  }

 private:
  const container::CubeGrid& grid() const { return stored_.grid; }

  uint64_t stored_index(size_t d, uint64_t at) const {
    return at - block_.place.begin[d] + (block_.stored.begin.empty() ? 0 : block_.stored.begin[d]);
  }

  void add(const Box& box, size_t d, uint64_t number, container::Cube& all) const {
    if (d == box.begin.size()) {
      all.merge(stored_.cubes[number]);
      return;
    }
    const uint64_t last = cube_at(d, box.begin[d] + box.count[d] - 1);
    for (uint64_t cube = cube_at(d, box.begin[d]); cube <= last; ++cube)
      add(box, d + 1, number * grid().counts[leading_ + d] + cube, all);
  }

  const StoredCubes& stored_;
  const Block& block_;
  size_t leading_ = 0;
  uint64_t first_ = 0;  // what the leading indices make of a cube's number
};

// Whether one of two boxes goes on in dimension `d` where the other one ends, and they are the same in all others.
bool continues(const Narrowed& before, const Narrowed& after, size_t d) {
  if (before.truth != after.truth || before.box.begin[d] + before.box.count[d] != after.box.begin[d]) return false;
  for (size_t other = 0; other < before.box.begin.size(); ++other)
    if (other != d &&
        (before.box.begin[other] != after.box.begin[other] || before.box.count[other] != after.box.count[other]))
      return false;
  return true;
}

// Boxes that lie side by side as one, dimension after dimension.
void join(std::vector<Narrowed>& boxes, size_t dimensions) {
  for (size_t d = dimensions; d-- > 0;) {
    const auto others_first = [d](const Narrowed& a, const Narrowed& b) {
      for (size_t other = 0; other < a.box.begin.size(); ++other)
        if (other != d && a.box.begin[other] != b.box.begin[other]) return a.box.begin[other] < b.box.begin[other];
      return a.box.begin[d] < b.box.begin[d];
    };
    std::ranges::sort(boxes, others_first);
    size_t kept = 0;
    for (size_t i = 1; i < boxes.size(); ++i) {
      if (continues(boxes[kept], boxes[i], d))
        boxes[kept].box.count[d] += boxes[i].box.count[d];
      else if (++kept != i)
        boxes[kept] = std::move(boxes[i]);
    }
    if (!boxes.empty()) boxes.resize(kept + 1);
  }
  std::ranges::sort(boxes, {}, [](const Narrowed& one) -> const Shape& { return one.box.begin; });
}

class Narrower {
 public:
  Narrower(const Expression& expression, std::span<const KnownBlock> blocks, size_t most)
      : expression_(expression), most_(most) {
    truths_.assign(expression.conditions.size(), Truth::maybe);
    for (const KnownBlock& known : blocks) {
      for (size_t i = 0; i < known.conditions.size(); ++i) truths_[known.conditions[i]] = known.truths[i];
      const bool is_open = std::ranges::find(known.truths, Truth::maybe) != known.truths.end();
      if (known.cubes && is_open) cubes_.push_back({&known, PlacedCubes(*known.cubes, *known.block)});
    }
  }

  std::vector<Narrowed> run(const Box& part) {
    if (cubes_.empty() || part.begin.empty()) return {{part, judge(expression_, truths_)}};
    Box cell = part;
    cut(part, 0, cell);
    if (found_.size() > most_) return {{part, judge(expression_, truths_)}};
    join(found_, part.begin.size());
    return std::move(found_);
  }

 private:
  struct Placed {
    const KnownBlock* known = nullptr;
    PlacedCubes cubes;
  };

  // Cuts the part along the cubes of the first variable that has some.
  void cut(const Box& part, size_t d, Box& cell) {
    if (d == part.begin.size()) {
      look_at(cell);
      return;
    }
    const uint64_t end = part.begin[d] + part.count[d];
    for (uint64_t at = part.begin[d]; at < end && found_.size() <= most_;) {
      const uint64_t stop = std::min(end, cubes_.front().cubes.end_of(d, cubes_.front().cubes.cube_at(d, at)));
      cell.begin[d] = at;
      cell.count[d] = stop - at;
      cut(part, d + 1, cell);
      at = stop;
    }
  }

  void look_at(const Box& cell) {
    in_cell_ = truths_;
    for (const auto& [known, cubes] : cubes_) {
      const container::Cube bounds = cubes.bounds(cell);
      for (size_t i = 0; i < known->conditions.size(); ++i)
        if (known->truths[i] == Truth::maybe)
          in_cell_[known->conditions[i]] = judge(expression_.conditions[known->conditions[i]], known->type, bounds);
    }
    const Truth truth = judge(expression_, in_cell_);
    if (truth == Truth::none) return;
    Narrowed found{cell, truth};
    const size_t last = cell.begin.size() - 1;
    if (!found_.empty() && continues(found_.back(), found, last))
      found_.back().box.count[last] += cell.count[last];
    else
      found_.push_back(std::move(found));
  }

  const Expression& expression_;
  const size_t most_;
  std::vector<Truth> truths_, in_cell_;  // of conditions: in the whole blocks, in a cell
  std::vector<Placed> cubes_;
  std::vector<Narrowed> found_;
};

}  // namespace

std::vector<Narrowed> narrow(const Expression& expression, std::span<const KnownBlock> blocks, const Box& part,
                             size_t most) {
  return Narrower(expression, blocks, most).run(part);
}

}  // namespace forebay::view
