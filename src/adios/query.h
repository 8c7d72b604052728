// A query that programs made with adios_query.h, and how far it is answered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <adios_query.h>

#include "adios/read_file.h"
#include "view/query/candidates.h"
#include "view/query/refine.h"
#include "view/query/window_step.h"

namespace forebay::adios {

// What an ADIOS_QUERY stands for: its expression, whose variables are the windows of a WindowStep.
struct QueryParts {
  struct Operand {
    size_t variable = 0;  // of the file
    std::optional<SelectionCopy> boundary;
  };
  view::Expression expression;
  std::vector<Operand> operands;  // of each variable of the expression
};

// One condition. err_invalid_query_value, err_unsupported_selection.
io::Outcome<QueryParts> make_condition(const ReadFile& file, size_t variable, const ADIOS_SELECTION* boundary,
                                       ADIOS_PREDICATE_MODE comparison, const char* value);
QueryParts combine(const QueryParts& one, ADIOS_CLAUSE_OP_MODE join, const QueryParts& other);

// A query in one step, answered bit by bit.
class QueryAnswer {
 public:
  // `output` is where hits are counted; none: at the boundary of the first condition. err_invalid_timestep,
  // err_incompatible_queries, err_out_of_bound, err_unsupported_selection, and errors of reading.
  static io::Outcome<std::unique_ptr<QueryAnswer>> make(const ReadFile& file, const QueryParts& parts, int timestep,
                                                        const std::optional<SelectionCopy>& output);

  uint64_t dimensions() const { return origin_.size(); }
  uint64_t elements() const { return element_count(found_.shape); }
  uint64_t most_hits() const;

  // The numbers of the blocks, of the first condition's variable, that may have hits; rising.
  std::vector<uint64_t> blocks() const;

  // The next points, dimensions() numbers each: `most` of them, or all that are left. Errors of reading.
  io::Outcome<std::vector<uint64_t>> next(uint64_t most);
  bool is_done() const { return next_ == candidates_.size() && at_ == points_.size(); }

 private:
  io::Outcome<void> fill();

  std::unique_ptr<const view::WindowStep> step_;
  view::Expression expression_;
  view::Candidates found_;  // without its candidates
  std::vector<view::Candidate> candidates_;
  Shape origin_;                  // of the hits' indices
  size_t next_ = 0;               // candidate
  std::vector<uint64_t> points_;  // of the candidates before, and how many of the numbers were handed out
  size_t at_ = 0;
};

}  // namespace forebay::adios
