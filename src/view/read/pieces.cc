#include "view/read/pieces.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::view {
namespace {

std::vector<Box> places_of(const Array& array, std::span<const Block> blocks) {
  std::vector<Box> places;
  if (array.form != Form::global) return places;
  places.reserve(blocks.size());
  for (const Block& block : blocks) places.push_back(block.place);
  return places;
}

std::byte* element_at(const Destination& to, const Shape& from, const Shape& at) {
  std::byte* element = to.first;
  for (size_t d = 0; d < at.size(); ++d) element += (at[d] - from[d]) * to.strides[d];
  return element;
}

bool is_inside(const Box& box, const Shape& shape) {
  if (box.begin.size() != shape.size() || box.count.size() != shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d)
    if (box.count[d] > shape[d] || box.begin[d] > shape[d] - box.count[d]) return false;
  return true;
}

Box relative(Box box, const Shape& origin) {
  for (size_t d = 0; d < box.begin.size(); ++d) box.begin[d] -= origin[d];
  return box;
}

}  // namespace

Destination dense(std::byte* first, const Shape& shape, uint64_t element_bytes) {
  Destination to{first, std::vector<uint64_t>(shape.size())};
  for (size_t d = shape.size(); d-- > 0; element_bytes *= shape[d]) to.strides[d] = element_bytes;
  return to;
}

Result<std::unique_ptr<const ArrayBlocks>> ArrayBlocks::make(const Array& array, std::vector<Block> blocks) {
  for (size_t i = 0; array.form == Form::global && i < blocks.size(); ++i)
    if (!is_inside(blocks[i].place, array.shape))
      return fail(ErrorKind::corrupt, fmt::format("block {} of '{}', of rank {}, lies outside of the array", i,
                                                  array.name, blocks[i].rank));
  return std::unique_ptr<const ArrayBlocks>(new ArrayBlocks(array, std::move(blocks)));
}

ArrayBlocks::ArrayBlocks(const Array& array, std::vector<Block> blocks)
    : array_(array), blocks_(std::move(blocks)), index_(places_of(array, blocks_)) {
  has_lists_ = std::ranges::any_of(blocks_, [](const Block& block) { return block.indices != nullptr; });
  if (!has_lists_) return;
  lists_.resize(blocks_.size());
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (!blocks_[i].indices) continue;
    auto& list = lists_[i];
    for (uint64_t row = 0; row < blocks_[i].indices->size(); ++row) list.emplace_back((*blocks_[i].indices)[row], row);
    std::ranges::stable_sort(list, {}, &std::pair<uint64_t, uint64_t>::first);
  }
}

void ArrayBlocks::add_block(size_t block, const Box& box, const Destination& to, size_t tag,
                            std::vector<Piece>& pieces) const {
  if (!is_empty(box)) pieces.push_back({blocks_[block].stored, box, to.first, to.strides, tag});
}

Result<uint64_t> ArrayBlocks::add_box(const Box& box, const Destination& to, size_t tag,
                                      std::vector<Piece>& pieces) const {
  if (is_empty(box)) return 0;
  if (has_lists_) return add_rows(box, to, tag, pieces);
  FOREBAY_TRY(const Cover covered, cover(index_, box));
  for (const Share& share : covered.shares)
    pieces.push_back({blocks_[share.block].stored, relative(share.box, blocks_[share.block].place.begin),
                      element_at(to, box.begin, share.box.begin), to.strides, tag});
  return covered.holes;
}

// The last written block that has a row of the array, and which row of the block it is.
std::optional<std::pair<size_t, uint64_t>> ArrayBlocks::row_of(uint64_t index) const {
  for (size_t i = blocks_.size(); i-- > 0;) {
    const Block& block = blocks_[i];
    if (!block.indices) {
      const uint64_t begin = block.place.begin[0];
      if (index >= begin && index - begin < block.place.count[0]) return std::pair(i, index - begin);
      continue;
    }
    const auto after = std::ranges::upper_bound(lists_[i], index, {}, &std::pair<uint64_t, uint64_t>::first);
    if (after != lists_[i].begin() && std::prev(after)->first == index) return std::pair(i, std::prev(after)->second);
  }
  return {};
}

// Rows of blocks that lie anywhere; those that follow each other in block and array go together.
Result<uint64_t> ArrayBlocks::add_rows(const Box& box, const Destination& to, size_t tag,
                                       std::vector<Piece>& pieces) const {
  uint64_t holes = 0, row_elements = 1;
  for (size_t d = 1; d < box.count.size(); ++d) row_elements *= box.count[d];
  size_t last_block = blocks_.size();
  uint64_t last_row = 0;
  for (uint64_t i = 0; i < box.count[0]; ++i) {
    const auto row = row_of(box.begin[0] + i);
    const bool goes_on = row && row->first == last_block && row->second == last_row + 1;
    last_block = row ? row->first : blocks_.size();
    last_row = row ? row->second : 0;
    if (!row) {
      holes += row_elements;
    } else if (goes_on) {
      ++pieces.back().box.count[0];
    } else {
      Box part = box;
      part.begin[0] = row->second;
      part.count[0] = 1;
      pieces.push_back({blocks_[row->first].stored, std::move(part), to.first + i * to.strides[0], to.strides, tag});
    }
  }
  return holes;
}

Result<uint64_t> ArrayBlocks::add_points(std::span<const uint64_t> indices, std::byte* out, size_t tag,
                                         std::vector<Piece>& pieces) const {
  const size_t dimensions = array_.shape.size();
  uint64_t holes = 0;
  for (size_t i = 0; i < indices.size(); i += dimensions, out += array_.type.bytes()) {
    const auto element = indices.subspan(i, dimensions);
    Box at{Shape(element.begin(), element.end()), Shape(dimensions, 1)};
    const Destination to = dense(out, at.count, array_.type.bytes());
    if (has_lists_) {
      FOREBAY_TRY(const uint64_t missing, add_rows(at, to, tag, pieces));
      holes += missing;
      continue;
    }
    const auto block = index_.covering(element);
    if (!block) {
      ++holes;
      continue;
    }
    pieces.push_back(
        {blocks_[*block].stored, relative(std::move(at), blocks_[*block].place.begin), to.first, to.strides, tag});
  }
  return holes;
}

}  // namespace forebay::view
