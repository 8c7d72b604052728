// Where in a part of an array a query may hold, from the cubes of its blocks. Pure.
#pragma once

#include <span>
#include <vector>

#include "view/query/truth.h"
#include "view/source/step.h"

namespace forebay::view {

// What is known of one variable of a query in a part of an array: one block has all of it.
struct KnownBlock {
  DataType type;
  const Block* block = nullptr;
  const StoredCubes* cubes = nullptr;  // of the block's stored array; null if there are none
  std::vector<size_t> conditions;      // on this variable, in Expression::conditions
  std::vector<Truth> truths;           // of each of these, of the whole block
};

struct Narrowed {
  Box box;
  Truth truth = Truth::maybe;  // never none
};

// `part`, in which each variable has the block that is given, without those cubes in which the query holds nowhere:
// disjoint boxes, in C order of their first elements. `part` itself if nobody has cubes, or if
// more than `most` boxes would have to be held.
std::vector<Narrowed> narrow(const Expression& expression, std::span<const KnownBlock> blocks, const Box& part,
                             size_t most);

}  // namespace forebay::view
