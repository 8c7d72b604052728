// Where in a step a query may hold: from the places and characteristics of blocks, without reading a value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/query/truth.h"
#include "view/source/step.h"

namespace forebay::view {

// A part of an array, in which each variable of the query has one block (but see `scattered`).
struct Candidate {
  Box box;                      // in the global array; of local arrays and scalars in the rank's own
  std::vector<uint32_t> ranks;  // that wrote the blocks, rising
  std::vector<size_t> blocks;   // of each variable, as Step::blocks() has them
  Truth truth = Truth::maybe;   // never none
};

struct Candidates {
  std::vector<size_t> arrays;  // of each variable of the query, in Step::arrays()
  Form form = Form::scalar;    // global or local if any of the arrays is
  Shape shape;                 // of the global array
  std::vector<Candidate> candidates;
  bool scattered = false;    // blocks lie at listed indices: one candidate stands for all of them, whose `blocks` say
                             // nothing, and not all elements of its box may have been written
  uint64_t blocks = 0;       // that were judged, of all variables
  uint64_t value_bytes = 0;  // of all these blocks: what need not be read
};

// Elements of which some variable of the query was not written are no candidates. Candidates are disjoint, in the order
// of the blocks of the query's first variable; empty boxes are left out. invalid_argument if the variables have no
// elements in common: global arrays of different shapes, or one beside a local one; unsupported if one has no numbers;
// not_found, naming it, if a variable is not in this step; corrupt; limit if too many blocks overlap.
Result<Candidates> find_candidates(const Step& step, const Expression& expression);

}  // namespace forebay::view
