// FLASH: variables are [block, z, y, x]; "bounding box" says where blocks lie, "refine level" on which level, from 1.
#include <algorithm>
#include <cmath>

#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

struct FlashBlocks {
  const SetFile* file = nullptr;
  uint64_t blocks = 0, dimensions = 0;
  std::vector<double> boxes;    // blocks x dimensions (x first) x (low, high)
  std::vector<int64_t> levels;  // of each block, from 1

  double low(uint64_t block, uint64_t d) const { return boxes[(block * dimensions + d) * 2]; }
  double high(uint64_t block, uint64_t d) const { return boxes[(block * dimensions + d) * 2 + 1]; }
};

struct FlashDomain {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
};

Result<std::vector<FlashBlocks>> read_flash_blocks(const SetLook& look, const Recognised& found) {
  std::vector<FlashBlocks> all;
  for (const SetFile& file : found.files) {
    const auto boxes = file.find("/bounding box"), levels = file.find("/refine level");
    if (!boxes || !levels || !file.find("/unknown names")) continue;
    const Shape& shape = shape_of(look.set(), found.arrays.stored[*boxes]);
    if (shape.size() != 3 || shape[1] == 0 || shape[1] > 3 || shape[2] != 2)
      return fail(ErrorKind::corrupt, "'bounding box' has another shape than blocks, dimensions, 2", file.row->name);
    FlashBlocks blocks{.file = &file, .blocks = shape[0], .dimensions = shape[1], .boxes = {}, .levels = {}};
    FOREBAY_TRY(blocks.boxes, reals_of(look, found.arrays.stored[*boxes]));
    FOREBAY_TRY(blocks.levels, integers_of(look, found.arrays.stored[*levels]));
    if (blocks.levels.size() != blocks.blocks)
      return fail(ErrorKind::corrupt, "'refine level' and 'bounding box' have different numbers of blocks",
                  file.row->name);
    all.push_back(std::move(blocks));
  }
  return all;
}

FlashDomain domain_of(std::span<const FlashBlocks> files) {
  FlashDomain domain;
  for (const FlashBlocks& file : files)
    for (uint64_t b = 0; b < file.blocks; ++b)
      for (uint64_t d = 0; d < file.dimensions; ++d) {
        domain.low[d] = std::min(domain.low[d], file.low(b, d));
        domain.high[d] = std::max(domain.high[d], file.high(b, d));
      }
  return domain;
}

// A block of `cells` cells (z, y, x); false if it does not lie on the cells of its level.
bool place_flash_block(const FlashBlocks& file, uint64_t block, const FlashDomain& domain, PlacedPart& part) {
  const Shape& cells = part.stored.shape;
  part.place = engine::whole_box(cells);
  part.global = Shape(3, 1);
  for (uint64_t d = 0; d < 3; ++d) {
    const uint64_t axis = 2 - d;
    if (d >= file.dimensions || cells[axis] == 1) continue;
    const double width = (file.high(block, d) - file.low(block, d)) / static_cast<double>(cells[axis]);
    const double offset = (file.low(block, d) - domain.low[d]) / width;
    const double size = (domain.high[d] - domain.low[d]) / width;
    if (!(width > 0) || !(size < static_cast<double>(kMostLevelCells)) || !(offset >= 0) ||
        std::abs(offset - std::rint(offset)) > 0.1 || std::abs(size - std::rint(size)) > 0.1)
      return false;
    part.place.begin[axis] = static_cast<uint64_t>(std::rint(offset));
    part.global[axis] = static_cast<uint64_t>(std::rint(size));
  }
  return true;
}

void place_flash_field(const FlashBlocks& file, std::string_view path, uint64_t stored, const Shape& shape,
                       const FlashDomain& domain, Gather& gather) {
  for (uint64_t b = 0; b < file.blocks; ++b) {
    const int64_t level = file.levels[b] - 1;
    PlacedPart part{.field = std::string(path.substr(1)), .level = {}, .global = {}, .place = {}, .stored = {}};
    part.stored.array = stored;
    part.stored.leading = {b};
    part.stored.shape = {shape[1], shape[2], shape[3]};
    if (level < 0 || level > kDeepestLevel || !place_flash_block(file, b, domain, part))
      return gather.refuse(stored, "lies between the cells of its level");
    part.level = static_cast<uint32_t>(level);
    if (!gather.add(std::move(part))) return;
  }
}

}  // namespace

Result<bool> recognise_flash(const SetLook& look, Recognised& found) {
  const auto files = read_flash_blocks(look, found);
  if (!files) return not_placed(files.error(), "FLASH", found);
  const FlashDomain domain = domain_of(*files);
  Gather gather(look.set(), found);
  for (const FlashBlocks& file : *files)
    for (const auto& [path, stored] : file.file->variables) {
      const Shape& shape = shape_of(look.set(), found.arrays.stored[stored]);
      if (shape.size() == 4 && shape[0] == file.blocks) place_flash_field(file, path, stored, shape, domain, gather);
    }
  return gather.finish();
}

}  // namespace forebay::view
