// A query over the steps of a run: in which steps, on which ranks and where it holds.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "view/query/refine.h"
#include "view/source/run.h"

namespace forebay::view {

struct QueryOptions {
  uint64_t begin_step = 0;                                   // numbers of Run::steps()
  uint64_t end_step = std::numeric_limits<uint64_t>::max();  // not included
  bool values = false;                                       // read the candidates' values, too
  bool first = false;                                        // stop behind the first step in which it holds
  unsigned threads = 0;                                      // that open steps; 0: one per core
  uint64_t tile_bytes = uint64_t{32} << 20;                  // RefineOptions
};

// Whom a query tells. Steps come in order; of each that has candidates first the step, then its hits and failures if
// values are read.
class QueryVisitor {
 public:
  virtual ~QueryVisitor() = default;
  virtual void step(const StepInfo& info, const Step& step, const Candidates& found) = 0;
  virtual void hits(const StepInfo&, const Candidates&, const Hits&) {}
  virtual void failed(const StepInfo&, const Candidate&, const Error&) {}

  // A step that cannot be opened, or whose index cannot be read; the query goes on with the next one.
  virtual void step_failed(const StepInfo& info, const Error& error) = 0;
};

// What was looked at, and how much that is.
struct QuerySummary {
  uint64_t steps = 0;          // that were looked at
  uint64_t steps_without = 0;  // of these, in which a variable of the query is missing
  uint64_t steps_found = 0;    // in which it may hold; with values: holds
  uint64_t blocks = 0;         // of the query's variables
  uint64_t candidates = 0;     // parts in which it may hold
  uint64_t certain = 0;        // of these, in which it holds for every element by the characteristics alone
  uint64_t hits = 0;           // elements, if values were read
  uint64_t failures = 0;       // parts and steps that could not be read
  uint64_t value_bytes = 0;    // of all these blocks
  ReadCost cost;
};

// Asks about every step with the variables of the query. invalid_argument if these have no elements in common in a
// step, or the steps are none; not_found, naming it, if a variable is in none of the steps; io.
Result<QuerySummary> query(const Run& run, const Expression& expression, const QueryOptions& options,
                           QueryVisitor& visitor);

}  // namespace forebay::view
