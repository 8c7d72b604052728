#include "view/query/refine.h"

#include <algorithm>

#include "view/query/column.h"
#include "view/read/cover.h"
#include "view/read/selection.h"

namespace forebay::view {
namespace {

// A part of a candidate whose values are held together.
struct Tile {
  size_t candidate = 0;
  Box box;
  std::vector<std::span<std::byte>> values;  // of each variable
};

void mark(const Box& tile, const Box& written, std::vector<uint8_t>& marks) {
  const Box common = intersection(tile, written);
  if (is_empty(common)) return;
  const uint64_t row = common.count.empty() ? 1 : common.count.back();
  Shape at = common.begin;
  while (true) {
    uint64_t place = 0;
    for (size_t d = 0; d < at.size(); ++d) place = place * tile.count[d] + (at[d] - tile.begin[d]);
    std::fill_n(marks.begin() + static_cast<ptrdiff_t>(place), row, uint8_t{1});
    size_t d = at.empty() ? 0 : at.size() - 1;
    while (d > 0 && ++at[d - 1] == common.begin[d - 1] + common.count[d - 1]) {
      --d;
      at[d] = common.begin[d];
    }
    if (d == 0) return;
  }
}

class Refiner {
 public:
  Refiner(const Step& step, const Expression& expression, const Candidates& found, const RefineOptions& options)
      : step_(step), expression_(expression), found_(found), options_(options) {
    masks_.assign(expression.nodes.size(), std::vector<uint8_t>(kHitsAtOnce));
    for (const size_t array : found.arrays)
      if (array_of(array).form != Form::scalar) element_bytes_ += array_of(array).type.bytes();
  }

  Result<ReadCost> run() {
    for (size_t c = 0; c < found_.candidates.size(); ++c) {
      const Box& box = found_.candidates[c].box;
      if (box.count.empty()) {
        FOREBAY_CHECK(add(c, box));
        continue;
      }
      engine::Slabs slabs(box, box.count, std::max<uint64_t>(element_bytes_, 1), options_.tile_bytes);
      while (auto slab = slabs.next()) FOREBAY_CHECK(add(c, std::move(*slab)));
    }
    FOREBAY_CHECK(read_tiles());
    return cost_;
  }

 private:
  const Array& array_of(size_t array) const { return step_.arrays()[array]; }

  uint64_t bytes_of(const Box& box, size_t variable) const {
    const Array& array = array_of(found_.arrays[variable]);
    return array.type.bytes() * (array.form == Form::scalar ? 1 : volume(box));
  }

  Result<void> add(size_t candidate, Box box) {
    uint64_t bytes = 0;
    for (size_t v = 0; v < found_.arrays.size(); ++v) bytes += bytes_of(box, v);
    if (!tiles_.empty() && bytes > options_.tile_bytes - std::min(options_.tile_bytes, held_bytes_))
      FOREBAY_CHECK(read_tiles());
    held_bytes_ += bytes;
    tiles_.push_back({candidate, std::move(box), {}});
    return {};
  }

  Selection selection_of(const Tile& tile, size_t variable) const {
    const size_t block = found_.candidates[tile.candidate].blocks[variable];
    switch (array_of(found_.arrays[variable]).form) {
      case Form::global:
        return Strided{tile.box, {}};
      case Form::local:
        return WrittenBlock{block, tile.box};
      case Form::scalar:
        break;
    }
    return WrittenBlock{block, {}};
  }

  Result<void> read_tiles() {
    if (tiles_.empty()) return {};
    buffer_.resize(held_bytes_);
    std::vector<Request> requests;
    uint64_t at = 0;
    for (Tile& tile : tiles_)
      for (size_t v = 0; v < found_.arrays.size(); ++v) {
        const auto out = std::span(buffer_).subspan(at, bytes_of(tile.box, v));
        at += out.size();
        tile.values.push_back(out);
        requests.push_back({&step_, found_.arrays[v], selection_of(tile, v), out});
      }
    const ReadResult result = read(requests);
    cost_.add(result.cost);
    for (size_t t = 0; t < tiles_.size(); ++t) {
      const auto outcomes = std::span(result.outcomes).subspan(t * found_.arrays.size(), found_.arrays.size());
      FOREBAY_CHECK(judge_tile(tiles_[t], outcomes));
    }
    tiles_.clear();
    held_bytes_ = 0;
    return {};
  }

  Result<void> judge_tile(const Tile& tile, std::span<const Outcome> outcomes) {
    bool has_holes = false;
    for (const Outcome& outcome : outcomes) {
      if (outcome.error && (outcome.error->kind == ErrorKind::changed || outcome.error->kind == ErrorKind::limit))
        return std::unexpected(*outcome.error);
      if (outcome.error) {
        options_.failed(tile.candidate, *outcome.error);
        return {};
      }
      has_holes = has_holes || outcome.holes > 0;
    }
    written_.clear();
    if (has_holes) FOREBAY_CHECK(find_written(tile.box));
    std::vector<Column> columns;
    for (size_t v = 0; v < tile.values.size(); ++v) {
      const Array& array = array_of(found_.arrays[v]);
      columns.push_back({array.type.data, tile.values[v].data(), array.form == Form::scalar, array.holes.get()});
    }
    const uint64_t elements = volume(tile.box);
    for (uint64_t begin = 0; begin < elements; begin += kHitsAtOnce)
      judge_elements(tile, columns, begin, std::min<uint64_t>(kHitsAtOnce, elements - begin));
    return {};
  }

  // Which elements of the box every variable was written of.
  Result<void> find_written(const Box& box) {
    written_.assign(volume(box), 1);
    for (const size_t number : found_.arrays) {
      if (array_of(number).form == Form::scalar) continue;
      FOREBAY_TRY(const auto blocks, step_.blocks(number));
      std::vector<uint8_t> marks(written_.size());
      for (const Block& block : blocks) {
        if (!block.indices) {
          mark(box, block.place, marks);
          continue;
        }
        Box row = block.place;
        row.count[0] = 1;
        for (const uint64_t index : *block.indices) {
          row.begin[0] = index;
          mark(box, row, marks);
        }
      }
      for (size_t i = 0; i < marks.size(); ++i) written_[i] &= marks[i];
    }
    return {};
  }

  // What the whole expression says of some elements.
  const std::vector<uint8_t>& judged(const std::vector<Column>& columns, uint64_t begin, size_t count) {
    for (size_t n = 0; n < masks_.size(); ++n) {
      const Expression::Node& node = expression_.nodes[n];
      auto& mask = masks_[n];
      if (node.join == Expression::Join::condition) {
        const Condition& condition = expression_.conditions[node.condition];
        compare(condition, columns[condition.variable], begin, count, mask.data());
        continue;
      }
      mask = masks_[node.children.front()];
      for (size_t i = 1; i < node.children.size(); ++i) {
        const auto& other = masks_[node.children[i]];
        if (node.join == Expression::Join::all)
          for (size_t e = 0; e < count; ++e) mask[e] &= other[e];
        else
          for (size_t e = 0; e < count; ++e) mask[e] |= other[e];
      }
      if (node.join == Expression::Join::negation)
        for (size_t e = 0; e < count; ++e) mask[e] ^= 1;
    }
    return masks_.back();
  }

  void judge_elements(const Tile& tile, const std::vector<Column>& columns, uint64_t begin, size_t count) {
    const auto& mask = judged(columns, begin, count);
    Hits hits{.candidate = tile.candidate};
    for (size_t e = 0; e < count; ++e) {
      if (!mask[e] || (!written_.empty() && !written_[begin + e])) continue;
      ++hits.count;
      const size_t first = hits.indices.size();
      hits.indices.resize(first + tile.box.count.size());
      uint64_t rest = begin + e;
      for (size_t d = tile.box.count.size(); d-- > 0; rest /= tile.box.count[d])
        hits.indices[first + d] = tile.box.begin[d] + rest % tile.box.count[d];
      for (const Column& column : columns) hits.values.push_back(column.number(begin + e));
    }
    if (hits.count > 0) options_.hits(hits);
  }

  const Step& step_;
  const Expression& expression_;
  const Candidates& found_;
  const RefineOptions& options_;
  uint64_t element_bytes_ = 0;  // of all arrays
  std::vector<Tile> tiles_;     // not read yet
  uint64_t held_bytes_ = 0;     // that they need
  Bytes buffer_;
  std::vector<uint8_t> written_;             // elements of the tile that were; empty: all
  std::vector<std::vector<uint8_t>> masks_;  // of each node
  ReadCost cost_;
};

}  // namespace

Result<ReadCost> refine(const Step& step, const Expression& expression, const Candidates& found,
                        const RefineOptions& options) {
  return Refiner(step, expression, found, options).run();
}

}  // namespace forebay::view
