#include "view/query/window_step.h"

#include <algorithm>

#include <fmt/format.h>

#include "view/read/cover.h"
#include "view/read/selection.h"

namespace forebay::view {
namespace {

// What of a block lies in `place`, counted from there. Its characteristics, which are of all of it, still bound it.
Block cropped(Block block, const Box& place) {
  const Box common = intersection(block.place, place);
  if (block.stored.shape.empty()) block.stored.shape = block.place.count;
  block.stored.begin.resize(block.stored.shape.size());
  for (size_t d = 0; d < common.begin.size(); ++d) {
    block.stored.begin[d] += common.begin[d] - block.place.begin[d];
    block.place.begin[d] = common.begin[d] - place.begin[d];
  }
  block.place.count = common.count;
  return block;
}

std::unexpected<Error> bad(const Array& array, ErrorKind kind, std::string_view what) {
  return fail(kind, fmt::format("'{}' {}", array.name, what));
}

// Where the window lies.
Result<Box> place_of(const Array& array, const Window& window, const std::vector<Block>& blocks) {
  if (array.form == Form::scalar) return bad(array, ErrorKind::unsupported, "is no array");
  if (window.block) {
    if (*window.block < blocks.size()) return blocks[*window.block].place;
    return bad(array, ErrorKind::invalid_argument, fmt::format("has no block {}", *window.block));
  }
  if (array.form == Form::local)
    return bad(array, ErrorKind::invalid_argument, "is a local array, of which blocks can be selected only");
  if (!window.box) return engine::whole_box(array.shape);
  FOREBAY_TRY([[maybe_unused]] const uint64_t bytes, selection_bytes(array, Strided{*window.box, {}}));
  return *window.box;
}

}  // namespace

std::string WindowStep::name_of(size_t window) { return fmt::format("{:06}", window); }

Result<std::unique_ptr<const WindowStep>> WindowStep::make(std::shared_ptr<const Step> step,
                                                           std::vector<Window> windows) {
  std::unique_ptr<WindowStep> made(new WindowStep(std::move(step)));
  for (const Window& window : windows) FOREBAY_CHECK(made->add(window));
  return made;
}

Result<void> WindowStep::add(const Window& window) {
  const Array& array = step_->arrays()[window.array];
  FOREBAY_TRY(std::vector<Block> blocks, step_->characterised_blocks(window.array));
  FOREBAY_TRY(const Box place, place_of(array, window, blocks));
  const bool is_whole = place.begin == Shape(place.begin.size()) && place.count == array.shape;
  std::vector<Block> kept;
  std::vector<size_t> originals;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (array.form == Form::local && i != *window.block) continue;
    if (blocks[i].indices && !is_whole)
      return bad(array, ErrorKind::unsupported, "has blocks at listed indices, of which no box can be asked for");
    if (!blocks[i].indices && is_empty(intersection(blocks[i].place, place))) continue;
    kept.push_back(is_whole ? std::move(blocks[i]) : cropped(std::move(blocks[i]), place));
    originals.push_back(i);
  }
  Array own = array;
  own.name = name_of(arrays_.size());
  own.form = Form::global;
  own.shape = place.count;
  own.blocks = kept.size();
  own.characteristics.reset();
  arrays_.push_back(std::move(own));
  places_.push_back(place);
  blocks_.push_back(std::move(kept));
  originals_.push_back(std::move(originals));
  return {};
}

}  // namespace forebay::view
