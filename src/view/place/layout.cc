#include "view/place/layout.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/options.h"
#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

std::unexpected<Error> disagrees(const LayoutArray& array, const std::string& what) {
  return fail(ErrorKind::invalid_argument, fmt::format("layout, line {}: array '{}': {}", array.line, array.name, what),
              {}, {}, "docs/reading.md, \"Layouts\", has the language and an example");
}

// A variable that is a block, and what of it is no ghost cell.
struct LayoutBlock {
  const SetFile* file = nullptr;
  uint64_t stored = 0;
  uint32_t rank = 0;
  Shape shape;  // as it is stored
  Box place;    // its counts are without ghost cells
};

size_t dimensions_of(const LayoutArray& array) { return array.ranks.empty() ? array.shape.size() : array.ranks.size(); }

Result<std::vector<LayoutBlock>> blocks_of_layout(const engine::OpenSet& set, const LayoutArray& array,
                                                  std::span<const SetFile> files, std::span<const StoredArray> stored) {
  std::vector<LayoutBlock> blocks;
  for (const SetFile& file : files) {
    if (!engine::matches_any({array.files}, file.row->name)) continue;
    for (const auto& [path, number] : file.variables) {
      if (!engine::matches_any({array.variables}, std::string(path))) continue;
      LayoutBlock block{
          .file = &file, .stored = number, .rank = file.row->rank, .shape = shape_of(set, stored[number])};
      if (block.shape.size() != dimensions_of(array))
        return disagrees(array, fmt::format("{} of {} has {} dimensions, not {}", path, file.row->name,
                                            block.shape.size(), dimensions_of(array)));
      block.place.begin = Shape(block.shape.size());
      block.place.count = block.shape;
      for (size_t d = 0; d < array.ghosts.size(); ++d) {
        if (block.shape[d] <= 2 * array.ghosts[d])
          return disagrees(
              array, fmt::format("{} of {} has nothing but ghost cells in dimension {}", path, file.row->name, d));
        block.place.count[d] -= 2 * array.ghosts[d];
      }
      blocks.push_back(std::move(block));
    }
  }
  if (blocks.empty())
    return disagrees(array, fmt::format("no variable is called {} in a file called {}", array.variables, array.files));
  return blocks;
}

Shape coordinates_of(uint64_t rank, const LayoutArray& array) {
  Shape at(array.ranks.size());
  for (size_t i = 0; i < at.size(); ++i) {
    const size_t d = array.is_fortran ? i : at.size() - 1 - i;
    at[d] = rank % array.ranks[d];
    rank /= array.ranks[d];
  }
  return at;
}

// Blocks of one row of ranks are as large as each other across it: they follow each other along each dimension.
Result<Shape> place_by_rank(const LayoutArray& array, std::vector<LayoutBlock>& blocks) {
  const uint64_t ranks = element_count(array.ranks);
  if (ranks != blocks.size())
    return disagrees(array, fmt::format("there are {} blocks, and 'ranks' has places for {}", blocks.size(), ranks));
  const size_t dimensions = array.ranks.size();
  std::vector<std::map<uint64_t, uint64_t>> widths(dimensions);  // by coordinate
  std::vector<bool> is_there(ranks);
  for (const LayoutBlock& block : blocks) {
    if (block.rank >= ranks || is_there[block.rank])
      return disagrees(array, fmt::format("rank {} has more than one block, or is beyond 'ranks'", block.rank));
    is_there[block.rank] = true;
    const Shape at = coordinates_of(block.rank, array);
    for (size_t d = 0; d < dimensions; ++d)
      if (widths[d].emplace(at[d], block.place.count[d]).first->second != block.place.count[d])
        return disagrees(array, fmt::format("the block of rank {} has {} elements in dimension {}, and others beside "
                                            "it have {}: is 'order' right?",
                                            block.rank, block.place.count[d], d, widths[d][at[d]]));
  }
  Shape global;
  std::vector<Shape> begins(dimensions);
  for (size_t d = 0; d < dimensions; ++d) {
    uint64_t begin = 0;
    for (const auto& [coordinate, width] : widths[d]) {
      begins[d].push_back(begin);
      if (__builtin_add_overflow(begin, width, &begin)) return disagrees(array, "it is too large");
    }
    global.push_back(begin);
  }
  for (LayoutBlock& block : blocks) {
    const Shape at = coordinates_of(block.rank, array);
    for (size_t d = 0; d < dimensions; ++d) block.place.begin[d] = begins[d][at[d]];
  }
  if (!array.shape.empty() && array.shape != global)
    return disagrees(array, fmt::format("its blocks together have the shape {}, and 'shape' is {}",
                                        fmt::join(global, " x "), fmt::join(array.shape, " x ")));
  return global;
}

class Offsets {
 public:
  Offsets(const SetLook& look, const Recognised& found, const LayoutArray& array)
      : look_(look), found_(found), array_(array) {}

  // Of a block, dimension by dimension.
  Result<std::vector<int64_t>> of(const SetFile& file) {
    const size_t dimensions = array_.shape.size();
    if (array_.offset.size() == 1) {
      FOREBAY_TRY(auto all, numbers(file, array_.offset.front()));
      if (all.size() != dimensions)
        return disagrees(array_, fmt::format("'offset' {} of {} has {} numbers, and the array has {} dimensions",
                                             array_.offset.front(), file.row->name, all.size(), dimensions));
      if (array_.is_fortran) std::ranges::reverse(all);
      return all;
    }
    std::vector<int64_t> each;
    for (const std::string& reference : array_.offset) {
      FOREBAY_TRY(const auto one, numbers(file, reference));
      if (one.size() != 1)
        return disagrees(array_, fmt::format("'offset' {} of {} is not one number", reference, file.row->name));
      each.push_back(one.front());
    }
    return each;
  }

 private:
  Result<std::vector<int64_t>> numbers(const SetFile& file, const std::string& reference) {
    const size_t at = reference.rfind('@');
    if (at == reference.npos) {
      const auto stored = file.find(reference);
      if (!stored) return disagrees(array_, fmt::format("'offset': {} has no variable {}", file.row->name, reference));
      return integers_of(look_, found_.arrays.stored[*stored]);
    }
    if (&file != last_) {
      FOREBAY_TRY(attributes_, look_.attributes(file.container, file.file));
      last_ = &file;
    }
    const std::string_view object = at == 0 ? "/" : std::string_view(reference).substr(0, at);
    const auto found = integers_of(attributes_.find(object, std::string_view(reference).substr(at + 1)));
    if (!found)
      return disagrees(array_, fmt::format("'offset': {} has no attribute {} of integers", file.row->name, reference));
    return *found;
  }

  const SetLook& look_;
  const Recognised& found_;
  const LayoutArray& array_;
  const SetFile* last_ = nullptr;  // whose attributes these are
  format::FileAttributes attributes_;
};

Result<Shape> place_by_offset(const SetLook& look, const Recognised& found, const LayoutArray& array,
                              std::vector<LayoutBlock>& blocks) {
  Offsets offsets(look, found, array);
  for (LayoutBlock& block : blocks) {
    FOREBAY_TRY(const auto offset, offsets.of(*block.file));
    for (size_t d = 0; d < array.shape.size(); ++d) {
      int64_t begin = 0;
      if (__builtin_sub_overflow(offset[d], array.base, &begin) || begin < 0)
        return disagrees(array, fmt::format("the block of {} begins at {} in dimension {}, before 'base'",
                                            block.file->row->name, offset[d], d));
      block.place.begin[d] = static_cast<uint64_t>(begin);
    }
  }
  return array.shape;
}

Result<void> apply_array(const SetLook& look, const LayoutArray& array, std::span<const SetFile> files,
                         Recognised& found) {
  FOREBAY_TRY(auto blocks, blocks_of_layout(look.set(), array, files, found.arrays.stored));
  for (const LayoutBlock& block : blocks)
    if (found.is_taken[block.stored])
      return disagrees(array, fmt::format("its block in {} is one of another array already", block.file->row->name));
  FOREBAY_TRY(const Shape global,
              array.ranks.empty() ? place_by_offset(look, found, array, blocks) : place_by_rank(array, blocks));
  const size_t remarks = found.arrays.remarks.size();
  Gather gather(look.set(), found);
  for (LayoutBlock& block : blocks) {
    PlacedPart part{.field = array.name, .level = {}, .global = global, .place = std::move(block.place), .stored = {}};
    part.stored.array = block.stored;
    part.stored.shape = std::move(block.shape);
    part.stored.begin = array.ghosts;
    gather.add(std::move(part));
  }
  if (found.arrays.remarks.size() > remarks) return disagrees(array, found.arrays.remarks.back());
  gather.finish();
  return {};
}

}  // namespace

Result<void> apply_layout(const SetLook& look, std::span<const LayoutArray> layout, Recognised& found) {
  for (const LayoutArray& array : layout) FOREBAY_CHECK(apply_array(look, array, found.files, found));
  return {};
}

}  // namespace forebay::view
