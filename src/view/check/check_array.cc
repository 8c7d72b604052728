#include "view/check/check_array.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/check/overlaps.h"
#include "view/read/cover.h"
#include "view/read/selection.h"

namespace forebay::view {
namespace {

constexpr size_t kMostPairs = 100'000;                  // of overlapping blocks that are counted
constexpr size_t kMostCompared = 10'000;                // of which values are compared
constexpr uint64_t kComparedBytes = uint64_t{4} << 20;  // at once

using Pair = std::pair<size_t, size_t>;

bool lies_inside(const Array& array, const Block& block) {
  const auto& [begin, count] = block.place;
  if (begin.size() != array.shape.size() || count.size() != array.shape.size()) return false;
  for (size_t d = 0; d < begin.size(); ++d)
    if (count[d] > array.shape[d] || begin[d] > array.shape[d] - count[d]) return false;
  return true;
}

class ArrayChecker {
 public:
  ArrayChecker(const Step& step, size_t number, const std::vector<Block>& blocks,
               const std::function<void(Inconsistency)>& say, ReadCost& cost)
      : step_(step), number_(number), array_(step.arrays()[number]), blocks_(blocks), say_(say), cost_(cost) {}

  void check(bool values) {
    if (array_.form == Form::local) check_dimensions();
    if (array_.form != Form::global || array_.shape.empty() || !check_bounds()) return;
    if (std::ranges::any_of(blocks_, [](const Block& block) { return block.indices != nullptr; })) {
      check_rows();
      return;
    }
    std::vector<Box> places;
    for (const Block& block : blocks_) places.push_back(block.place);
    const auto found = coverage(array_.shape, places, kMostPairs, kMostCompared);
    if (!found) {
      tell(Disagreement::overlap, 0, found.error().what);
      return;
    }
    // Finer levels of refinement cover what is refined alone.
    if (found->holes > 0 && array_.level.value_or(0) == 0)
      tell(Disagreement::gap, found->holes,
           fmt::format("nobody wrote {} of {}", counted(found->holes, "element"), element_count(array_.shape)), {},
           found->hole);
    if (found->overlapping == 0) return;
    if (values)
      compare(*found);
    else
      tell_pairs(Disagreement::overlap, found->overlapping, found->pairs, "overlap");
  }

 private:
  void tell(Disagreement kind, uint64_t count, std::string what, const std::set<uint32_t>& ranks = {},
            std::optional<Box> box = {}) {
    say_({.kind = kind,
          .variable = array_.name,
          .ranks = first_ranks(ranks),
          .count = count,
          .box = std::move(box),
          .what = std::move(what)});
  }

  void check_dimensions() {
    std::set<uint32_t> other;
    for (const Block& block : blocks_)
      if (block.place.count.size() != array_.shape.size()) other.insert(block.rank);
    if (!other.empty())
      tell(Disagreement::dimensions, other.size(),
           fmt::format("{} wrote another number of dimensions than the first, {}", counted(other.size(), "rank"),
                       array_.shape.size()),
           other);
  }

  bool check_bounds() {
    std::set<uint32_t> outside;
    for (const Block& block : blocks_)
      if (!lies_inside(array_, block)) outside.insert(block.rank);
    if (!outside.empty())
      tell(Disagreement::bounds, outside.size(),
           fmt::format("{} wrote outside of the global array of {}", counted(outside.size(), "rank"),
                       fmt::join(array_.shape, "x")),
           outside);
    return outside.empty();
  }

  void tell_pairs(Disagreement kind, uint64_t count, std::span<const Pair> pairs, const char* verb) {
    std::set<uint32_t> ranks;
    for (const auto& [one, other] : pairs) {
      if (ranks.size() > kMostRanksNamed) break;
      ranks.insert({blocks_[one].rank, blocks_[other].rank});
    }
    tell(kind, count,
         fmt::format("{}{} of blocks {}", count >= kMostPairs ? "at least " : "", counted(count, "pair"), verb), ranks,
         intersection(blocks_[pairs[0].first].place, blocks_[pairs[0].second].place));
  }

  // Keeps the pairs that have different bytes where they overlap.
  void compare(const Coverage& found) {
    std::vector<Pair> different;
    for (const Pair& pair : found.pairs) {
      const auto same = are_same(pair);
      if (!same)
        tell(Disagreement::unreadable, 1, same.error().message(),
             {blocks_[pair.first].rank, blocks_[pair.second].rank});
      else if (!*same)
        different.push_back(pair);
    }
    if (found.overlapping > found.pairs.size())
      tell(Disagreement::overlap, found.overlapping,
           fmt::format("{} of blocks overlap; the values of {} were compared", counted(found.overlapping, "pair"),
                       found.pairs.size()));
    if (!different.empty())
      tell_pairs(Disagreement::values, different.size(), different, "have different values where they overlap");
  }

  Result<bool> are_same(const Pair& pair) {
    const uint64_t element_bytes = array_.type.bytes();
    const Box common = intersection(blocks_[pair.first].place, blocks_[pair.second].place);
    engine::Slabs slabs(common, common.count, element_bytes, kComparedBytes);
    while (const auto slab = slabs.next()) {
      Bytes values[2];
      std::vector<Request> requests;
      for (const size_t block : {pair.first, pair.second}) {
        Box box = *slab;
        for (size_t d = 0; d < box.begin.size(); ++d) box.begin[d] -= blocks_[block].place.begin[d];
        Bytes& out = values[requests.size()];
        out.resize(volume(*slab) * element_bytes);
        requests.push_back({&step_, number_, WrittenBlock{block, std::move(box)}, out});
      }
      const ReadResult result = read(requests);
      cost_.add(result.cost);
      for (const Outcome& outcome : result.outcomes)
        if (outcome.error) return std::unexpected(*outcome.error);
      if (values[0] != values[1]) return false;
    }
    return true;
  }

  // Of rows at listed indices: each once, and all of them.
  void check_rows() {
    std::vector<uint64_t> rows;
    for (const Block& block : blocks_) {
      if (block.indices) {
        rows.insert(rows.end(), block.indices->begin(), block.indices->end());
        continue;
      }
      for (uint64_t i = 0; i < block.place.count[0]; ++i) rows.push_back(block.place.begin[0] + i);
    }
    std::ranges::sort(rows);
    const uint64_t written = rows.size();
    const auto repeated = std::ranges::unique(rows);
    rows.erase(repeated.begin(), repeated.end());
    if (rows.size() < written)
      tell(Disagreement::overlap, written - rows.size(),
           fmt::format("{} written more than once", counted(written - rows.size(), "row")));
    if (!rows.empty() && rows.back() >= array_.shape[0])
      tell(Disagreement::bounds, 1, fmt::format("row {} is outside of {}", rows.back(), fmt::join(array_.shape, "x")));
    else if (rows.size() < array_.shape[0])
      tell(Disagreement::gap, array_.shape[0] - rows.size(),
           fmt::format("nobody wrote {} of {}", counted(array_.shape[0] - rows.size(), "row"), array_.shape[0]));
  }

  const Step& step_;
  size_t number_;
  const Array& array_;
  const std::vector<Block>& blocks_;
  const std::function<void(Inconsistency)>& say_;
  ReadCost& cost_;
};

}  // namespace

std::vector<uint32_t> first_ranks(const std::set<uint32_t>& ranks) {
  std::vector<uint32_t> first;
  for (const uint32_t rank : ranks)
    if (first.size() < kMostRanksNamed) first.push_back(rank);
  return first;
}

std::string counted(uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void check_array(const Step& step, size_t array, const std::vector<Block>& blocks, bool values,
                 const std::function<void(Inconsistency)>& say, ReadCost& cost) {
  ArrayChecker(step, array, blocks, say, cost).check(values);
}

}  // namespace forebay::view
