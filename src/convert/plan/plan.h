// What a conversion makes, before anything is written: which arrays the target gets, of which type and shape, where
// each lies, and what is read for it. Pure values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/shape.h"
#include "view/model/array.h"
#include "view/read/selection.h"
#include "view/source/run.h"

namespace forebay::convert {

using engine::Box;

// Where the values of a dataset come from in one step.
struct Source {
  uint64_t step = 0;  // in Plan::steps
  size_t array = 0;   // in view::Step::arrays()
};

// An array of the target.
struct Dataset {
  std::string path;                      // in the target: parts joined by one '/', none of them empty, "." or ".."
  std::string name;                      // of the array in the run, for messages; of what the conversion adds, its path
  view::ElementType type;                // a string has its characters in the last dimension
  view::Form form = view::Form::global;  // in the run
  Shape shape;
  std::vector<std::string> dimensions;      // a name for each dimension of `shape`
  std::vector<std::string> own_dimensions;  // as the run names them, without steps and blocks; may be empty
  bool has_steps = false;                   // the first dimension is that of the sources, in their order
  bool has_blocks = false;                  // the next one is that of blocks, all of which have one shape
  bool joins_steps = false;           // the array in the run has a first dimension of one element, which is this one
  std::optional<uint64_t> block;      // this block alone
  std::optional<view::Strided> part;  // of a global array; all of it otherwise
  Shape chunk;                        // each piece is one chunk of this grid, cut at the far edge; empty: any box
  std::vector<Source> sources;        // in rising order of steps; one, or as many as has_steps says
  std::vector<view::Attribute> attributes;  // with their own names, not paths
  Bytes fill;                               // an element, for those that no rank wrote; empty: 0
  Bytes values;                             // not empty: these, in the machine's byte order, and nothing is read

  uint64_t bytes() const { return element_count(shape) * type.bytes(); }  // the plan has checked that this fits
};

// Attributes of a group, or of the whole with an empty path.
struct GroupAttributes {
  std::string path;
  std::vector<view::Attribute> attributes;
};

struct Plan {
  std::vector<view::StepInfo> steps;  // that are converted
  std::vector<Dataset> datasets;      // in the order of paths
  std::vector<GroupAttributes> groups;
  std::vector<std::string> remarks;  // what users should know of it: sentences
  uint64_t bytes = 0;                // of all datasets
  bool meanings_differ = false;      // an array lacks attributes that say what its values mean: steps or blocks differ
};

// A part of a dataset with its values, as it is handed to a sink.
struct Piece {
  size_t dataset = 0;                 // in Plan::datasets
  Box box;                            // in the dataset
  std::span<const std::byte> values;  // dense, C order, the machine's byte order
};

}  // namespace forebay::convert
