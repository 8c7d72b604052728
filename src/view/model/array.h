// What there is to read: steps, the arrays in them, and the blocks that ranks wrote of each. Pure values, whichever way
// in they came (packed files, adaptable I/O).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/datatype.h"
#include "base/error.h"
#include "base/meaning.h"
#include "base/shape.h"
#include "container/characteristics.h"
#include "engine/set/box_layout.h"
#include "io/group/value_type.h"

namespace forebay::view {

using engine::Box;

// The type of elements, as it is stored and as it is called. `value` is empty for what programs of adaptable I/O cannot
// write: float16 and opaque elements (compounds, filtered chunks).
struct ElementType {
  DataType data;
  std::optional<io::ValueType> value;

  auto operator<=>(const ElementType&) const = default;
  uint64_t bytes() const { return data.size; }
};

ElementType element_type(io::ValueType type);
ElementType element_type(const DataType& type);

// "float64", "int32", "uint8", "float16", "string", "complex128", "x24": as the command and its JSON call it, byte
// order left out.
std::string to_string(const ElementType& type);

// As NumPy writes it, of elements in little-endian order: "<f8", "<c16", "|S1", "|V24".
std::string npy_descr(const ElementType& type);

// When something was written.
struct StepInfo {
  uint64_t number = 0;                  // its place in the run, from 0, without gaps
  std::optional<int64_t> step;          // as the program or the set's name counts it
  std::optional<double> time;           // of the simulation
  uint32_t time_index = 0;              // as ADIOS counts, from 1; 0: not known
  std::string set;                      // the set that it lies in; empty for a file that grows
  std::shared_ptr<const Error> damage;  // why it cannot be opened, where that is known before somebody tries
};

enum class Form : uint8_t {
  scalar,  // each block is one value, or one string
  global,  // blocks are boxes of one array
  local,   // each block is an array of its own
};

// A variable of a step: all blocks of one name and one type.
struct Array {
  std::string name;   // what a user asks for: unique in its step
  std::string group;  // that it was declared in; empty if there are none
  ElementType type;
  Form form = Form::scalar;
  Shape shape;                 // C order; of a global array the whole, of a local one the first block's
  uint64_t blocks = 0;         // how many were written
  bool fortran_order = false;  // how the program that wrote it counts dimensions; `shape` is in C's order all the same
  std::optional<container::Characteristics>
      characteristics;                   // of all blocks together, where that is known without reading them
  std::optional<uint32_t> level;         // of refinement, if the array is one of several resolutions: 0 is the coarsest
  uint32_t order = 0;                    // its place among the step's arrays as they were written; 0 of all: not known
  std::shared_ptr<const Meaning> holes;  // of integers of 64 bits: which of the values that are read are holes; null if
                                         // none are. Holes of other types are NaN
  bool meanings_differ = false;          // what is stored is read, and what that means differs between blocks
};

// Where a block lies in the array that is stored (a variable of a file): all of it, or a part.
struct StoredPart {
  uint64_t array = 0;  // which one, as the step that the block is of numbers them
  Shape leading;       // fixed indices in the first dimensions of the stored array: of a block in a stacked array
  std::optional<uint64_t> flat;  // the stored array is a line in which the block begins at this element
  Shape shape;  // of the array that the block is a part of, `leading` left out: larger than the block if that has ghost
                // cells
  Shape begin;  // where in it the block begins; empty: at its first element
};

// What one rank wrote of an array.
struct Block {
  uint32_t rank = 0;
  Box place;  // in the global array; of a local one or a scalar all of itself, from 0
  StoredPart stored;
  // Of a block whose elements are scattered over a global array of one dimension (or over its rows): the index of each,
  // instead of place.begin[0] and what follows.
  std::shared_ptr<const std::vector<uint64_t>> indices;
  std::optional<container::Characteristics> characteristics;
};

struct Attribute {
  std::string name;   // full: "/Grid00000001/Density/units"
  std::string group;  // as Array::group
  ElementType type;
  uint64_t count = 1;
  Bytes value;           // native byte order; a string without a final zero, of several each with one
  std::string variable;  // not empty: has the value of this variable, and none of its own
  uint32_t order = 0;    // its place among the step's attributes as they were defined; 0 of all: not known
};

}  // namespace forebay::view
