// Boxes of arrays of a step, seen as arrays of their own: so that a query may join elements that lie at different
// places of their arrays.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "view/source/step.h"

namespace forebay::view {

// All of a global array, a box of it, or one written block of any array.
struct Window {
  size_t array = 0;               // in the step's arrays()
  std::optional<Box> box;         // of a global array, inside of it
  std::optional<uint64_t> block;  // by its place in Step::blocks(); then there is no box
};

// Thread-safe.
class WindowStep final : public Step {
 public:
  // Its arrays are global, named by name_of(). invalid_argument, naming the array, if a box has other dimensions or is
  // not inside, or if there is no such block; unsupported for a box of an array whose blocks lie at listed indices, and
  // for scalars. Errors of Step::blocks() as well.
  static Result<std::unique_ptr<const WindowStep>> make(std::shared_ptr<const Step> step, std::vector<Window> windows);

  // What the array of a window is called; in the order of the windows.
  static std::string name_of(size_t window);

  // Where the window begins in its array; of a block of a local array at its first element.
  const Box& place(size_t window) const { return places_[window]; }

  // The place, in blocks() of the array that a window is of, of the block that is blocks(window)[block] here.
  size_t original(size_t window, size_t block) const { return originals_[window][block]; }

  const StepInfo& info() const override { return step_->info(); }
  const std::vector<Array>& arrays() const override { return arrays_; }
  const std::vector<Attribute>& attributes() const override { return no_attributes_; }
  Result<std::vector<Block>> blocks(size_t array) const override { return blocks_[array]; }
  std::shared_ptr<const StoredCubes> cubes(const Block& block) const override { return step_->cubes(block); }
  Result<ReadCost> read(std::span<const Piece> pieces, const Failed& failed) const override {
    return step_->read(pieces, failed);
  }

 private:
  explicit WindowStep(std::shared_ptr<const Step> step) : step_(std::move(step)) {}
  Result<void> add(const Window& window);

  const std::shared_ptr<const Step> step_;
  std::vector<Array> arrays_;
  std::vector<Attribute> no_attributes_;
  std::vector<Box> places_;
  std::vector<std::vector<Block>> blocks_;
  std::vector<std::vector<size_t>> originals_;
};

}  // namespace forebay::view
