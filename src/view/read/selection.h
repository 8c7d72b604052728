// What to read of an array, and the reading of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/error.h"
#include "view/source/step.h"

namespace forebay::view {

// Every stride[i]-th element from begin[i] on, count[i] of them. Without strides: all.
struct Strided {
  Box box;
  Shape stride;  // empty: 1 in each dimension
};

// Single elements, each with as many indices as the array has dimensions, one after another.
struct Points {
  uint64_t dimensions = 0;
  std::vector<uint64_t> indices;
};

// A block that was written, by its place in Step::blocks(); all of it, or a box of it.
struct WrittenBlock {
  uint64_t block = 0;
  std::optional<Box> box;
};

using Selection = std::variant<Strided, Points, WrittenBlock>;

// One read of several that are planned together.
struct Request {
  const Step* step = nullptr;
  size_t array = 0;  // in Step::arrays()
  Selection selection;
  std::span<std::byte>
      out;  // of selection_bytes() bytes: dense, C order of the selection's shape; points in the order given
};

// What became of a request: where it failed, `error`, and its `out` is undefined. Elements that no block covers are
// left as they were in `out`; `holes` counts them.
struct Outcome {
  std::optional<Error> error;
  uint64_t holes = 0;  // elements
};

// The bytes that a selection of `array` has. invalid_argument, naming variable, dimension and size, if it is not
// inside; a written block's size follows from the block, which is given for it.
Result<uint64_t> selection_bytes(const Array& array, const Selection& selection, const Block* block = nullptr);

// Reads all requests: of each step the frames that any of them needs, each once. One outcome for each request; an error
// of its own only where nothing can be read (limit, io).
struct ReadResult {
  std::vector<Outcome> outcomes;
  ReadCost cost;
};
ReadResult read(std::span<const Request> requests);

}  // namespace forebay::view
