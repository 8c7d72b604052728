// The calls of adios_query.h.
#include "adios/query.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "view/read/cover.h"

namespace forebay::adios {
namespace {

using io::Outcome;

// Behind ADIOS_QUERY::queryInternal.
struct QueryState {
  QueryParts parts;
  std::unique_ptr<QueryAnswer> answer;  // in onTimeStep, counted at `output`
  std::optional<SelectionCopy> output;
  std::optional<std::vector<uint64_t>> blocks;  // of MINMAX
};

// Open file and query, checked.
struct OpenQuery {
  ADIOS_QUERY& query;
  QueryState& state;
  const ReadFile& file;
};

Outcome<OpenQuery> open_query(ADIOS_QUERY* query) {
  if (query == nullptr || query->queryInternal == nullptr)
    return refuse_reading(err_incompatible_queries, "there is no query",
                          "use what adios_query_create() or adios_query_combine() returned, unless that is NULL");
  FOREBAY_TRY(const ReadFile* const file, file_of(query->file));
  return OpenQuery{*query, *static_cast<QueryState*>(query->queryInternal), *file};
}

ADIOS_QUERY* new_query(ADIOS_FILE* file, QueryParts parts, const std::string& condition) {
  auto state = std::make_unique<QueryState>();
  state->parts = std::move(parts);
  auto* const query = allocate<ADIOS_QUERY>(1);
  query->condition = malloc_copy(condition);
  query->file = file;
  query->method = ADIOS_QUERY_METHOD_UNKNOWN;
  query->onTimeStep = -1;
  query->queryInternal = state.release();
  return query;
}

Outcome<ADIOS_QUERY*> create(ADIOS_FILE* fp, ADIOS_SELECTION* boundary, const char* name, ADIOS_PREDICATE_MODE mode,
                             const char* value) {
  constexpr const char* kSigns[] = {"<", "<=", ">", ">=", "=", "!="};
  FOREBAY_TRY(const ReadFile* const file, file_of(fp));
  const auto variable = name ? file->variable(name) : std::nullopt;
  if (!variable)
    return refuse_reading(err_invalid_varname, file->path + " has no variable '" + (name ? name : "") + "'",
                          "fp->var_namelist has the names, which count exactly");
  FOREBAY_TRY(QueryParts parts, make_condition(*file, *variable, boundary, mode, value));
  auto* const query = new_query(fp, std::move(parts), std::string("(") + name + " " + kSigns[mode] + " " + value + ")");
  query->sel = boundary;
  query->varName = malloc_copy(std::string_view(name));
  query->predicateOp = mode;
  query->predicateValue = malloc_copy(std::string_view(value));
  return query;
}

Outcome<ADIOS_QUERY*> combine_queries(ADIOS_QUERY* one, ADIOS_CLAUSE_OP_MODE join, ADIOS_QUERY* other) {
  FOREBAY_TRY(const OpenQuery left, open_query(one));
  FOREBAY_TRY(const OpenQuery right, open_query(other));
  if (&left.file != &right.file) return refuse_reading(err_incompatible_queries, "the queries are of different files");
  if (left.state.parts.operands.size() + right.state.parts.operands.size() > view::kMostConditions)
    return refuse_reading(err_incompatible_queries, "the query has too many conditions");
  const char* const word = join == ADIOS_QUERY_OP_OR ? " or " : " and ";
  auto* const query = new_query(one->file, combine(left.state.parts, join, right.state.parts),
                                std::string("(") + one->condition + word + other->condition + ")");
  query->left = one;
  query->right = other;
  query->combineOp = join;
  one->hasParent = other->hasParent = 1;
  return query;
}

bool same(const std::optional<SelectionCopy>& a, const std::optional<SelectionCopy>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->type == b->type && a->start == b->start && a->count == b->count && a->block.index == b->block.index;
}

// Begins to answer the query in a step, if it is not the one at hand.
Outcome<void> begin(const OpenQuery& open, int step, const ADIOS_SELECTION* boundary) {
  std::optional<SelectionCopy> output;
  if (boundary != nullptr) {
    FOREBAY_TRY(output, copy_selection(*boundary));
    if (output->type == ADIOS_SELECTION_POINTS)
      return refuse_reading(err_unsupported_selection, "hits are counted in a box or a block, not in points");
  }
  QueryState& state = open.state;
  if (state.answer && open.query.onTimeStep == step && same(state.output, output)) return {};
  state.answer.reset();
  state.blocks.reset();
  FOREBAY_TRY(state.answer, QueryAnswer::make(open.file, state.parts, step, output));
  state.output = std::move(output);
  open.query.onTimeStep = step;
  open.query.rawDataSize = state.answer->elements();
  open.query.resultsReadSoFar = 0;
  return {};
}

// A new answer begins with the next call.
void end(const OpenQuery& open) {
  open.state.answer.reset();
  open.state.blocks.reset();
}

void give_points(const std::vector<uint64_t>& points, uint64_t dimensions, ADIOS_QUERY_RESULT& result) {
  if (points.empty()) return;
  result.npoints = points.size() / dimensions;
  result.selections = allocate<ADIOS_SELECTION>(1);
  result.nselections = 1;
  result.selections->type = ADIOS_SELECTION_POINTS;
  result.selections->u.points = {static_cast<int>(dimensions), 1, result.npoints, malloc_copy(points), nullptr};
}

void give_blocks(std::span<const uint64_t> blocks, ADIOS_QUERY_RESULT& result) {
  if (blocks.empty()) return;
  result.selections = allocate<ADIOS_SELECTION>(blocks.size());
  result.nselections = static_cast<int>(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    result.selections[i].type = ADIOS_SELECTION_WRITEBLOCK;
    result.selections[i].u.block.index = static_cast<int>(blocks[i]);
  }
}

Outcome<void> evaluate(ADIOS_QUERY* query, const ADIOS_SELECTION* boundary, int step, uint64_t most,
                       ADIOS_QUERY_RESULT& result) {
  FOREBAY_TRY(const OpenQuery open, open_query(query));
  FOREBAY_CHECK(begin(open, step, boundary));
  QueryAnswer& answer = *open.state.answer;
  result.method_used = query->method;
  bool more = false;
  if (query->method == ADIOS_QUERY_METHOD_MINMAX) {
    if (!open.state.blocks) open.state.blocks = answer.blocks();
    auto& left = *open.state.blocks;
    const auto taken = static_cast<ptrdiff_t>(most == 0 ? left.size() : std::min<uint64_t>(most, left.size()));
    give_blocks(std::span(left).first(static_cast<size_t>(taken)), result);
    left.erase(left.begin(), left.begin() + taken);
    more = !left.empty();
    query->resultsReadSoFar += static_cast<uint64_t>(taken);
  } else {
    auto points = answer.next(most);
    if (!points) {
      end(open);
      return std::unexpected(std::move(points).error());
    }
    give_points(*points, answer.dimensions(), result);
    more = !answer.is_done();
    query->resultsReadSoFar += result.npoints;
  }
  result.status = more ? ADIOS_QUERY_HAS_MORE_RESULTS : ADIOS_QUERY_NO_MORE_RESULTS;
  if (!more) end(open);
  return {};
}

// Where an element of a box lies in the memory of another one; nothing if it is outside.
std::optional<uint64_t> place_in(const SelectionCopy& box, std::span<const uint64_t> at) {
  uint64_t place = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] < box.start[d] || at[d] - box.start[d] >= box.count[d]) return std::nullopt;
    place = place * box.count[d] + (at[d] - box.start[d]);
  }
  return place;
}

class BoxReader {
 public:
  BoxReader(const ReadFile& file, size_t variable, int step, SelectionCopy box, std::byte* data)
      : file_(file), variable_(variable), step_(step), box_(std::move(box)), data_(data) {}

  Outcome<void> add(const ADIOS_SELECTION& selection) {
    FOREBAY_TRY(SelectionCopy copy, copy_selection(selection));
    if (copy.type == ADIOS_SELECTION_POINTS) return add_points(std::move(copy));
    if (copy.type == ADIOS_SELECTION_WRITEBLOCK) {
      FOREBAY_TRY(copy, box_of(copy.block.index));
    }
    return add_box(copy);
  }

 private:
  uint64_t element() const { return io::element_bytes(file_.variables[variable_].type); }

  Outcome<void> add_points(SelectionCopy points) {
    if (points.dimensions != box_.start.size() || points.container)
      return refuse_reading(err_incompatible_queries, "the points have other dimensions than the box");
    std::vector<uint64_t> places;
    SelectionCopy inside = points;
    inside.points.clear();
    for (size_t i = 0; i < points.points.size(); i += points.dimensions) {
      const auto at = std::span(points.points).subspan(i, points.dimensions);
      if (const auto place = place_in(box_, at)) {
        places.push_back(*place);
        inside.points.insert(inside.points.end(), at.begin(), at.end());
      }
    }
    Bytes values(places.size() * element());
    if (!places.empty()) FOREBAY_CHECK(read_now(file_, variable_, step_, inside, values.data()));
    for (size_t i = 0; i < places.size(); ++i)
      std::memcpy(data_ + places[i] * element(), values.data() + i * element(), element());
    return {};
  }

  Outcome<SelectionCopy> box_of(int block) const {
    const ReadPlace& place = file_.variables[variable_].places[static_cast<size_t>(step_)];
    const auto step = file_.run().step(place.step);
    if (!step) return std::unexpected(of_reading(step.error()));
    const auto blocks = (*step)->blocks(place.array);
    if (!blocks) return std::unexpected(of_reading(blocks.error()));
    if (block < 0 || static_cast<size_t>(block) >= blocks->size())
      return refuse_reading(err_out_of_bound, "the variable has no block " + std::to_string(block));
    SelectionCopy box;
    box.start = (*blocks)[static_cast<size_t>(block)].place.begin;
    box.count = (*blocks)[static_cast<size_t>(block)].place.count;
    return box;
  }

  // What both boxes have, row by row.
  Outcome<void> add_box(const SelectionCopy& box) {
    if (box.start.size() != box_.start.size())
      return refuse_reading(err_incompatible_queries, "a selection has other dimensions than the box");
    const view::Box common = view::intersection({box.start, box.count}, {box_.start, box_.count});
    if (view::is_empty(common)) return {};
    SelectionCopy part;
    part.start = common.begin;
    part.count = common.count;
    Bytes values(element_count(common.count) * element());
    FOREBAY_CHECK(read_now(file_, variable_, step_, part, values.data()));
    const uint64_t row = common.count.back() * element();
    Shape at = common.begin;
    for (size_t from = 0; from < values.size(); from += row) {
      std::memcpy(data_ + *place_in(box_, at) * element(), values.data() + from, row);
      for (size_t d = at.size() - 1; d-- > 0;) {
        if (++at[d] < common.begin[d] + common.count[d]) break;
        at[d] = common.begin[d];
      }
    }
    return {};
  }

  const ReadFile& file_;
  const size_t variable_;
  const int step_;
  const SelectionCopy box_;
  std::byte* const data_;
};

Outcome<void> read_boundingbox(const ADIOS_FILE* fp, const char* name, int step,
                               std::span<const ADIOS_SELECTION> selections, const ADIOS_SELECTION* bb, void* data) {
  FOREBAY_TRY(const ReadFile* const file, file_of(fp));
  const auto variable = name ? file->variable(name) : std::nullopt;
  if (!variable)
    return refuse_reading(err_invalid_varname, file->path + " has no variable '" + (name ? name : "") + "'");
  if (bb == nullptr || bb->type != ADIOS_SELECTION_BOUNDINGBOX || data == nullptr)
    return refuse_reading(err_invalid_argument, "values are read into a box, and there is none, or no memory for it");
  const ReadVariable& of = file->variables[*variable];
  if (of.form != view::Form::global || of.type == io::ValueType::string)
    return refuse_reading(err_operation_not_supported, "'" + of.name + "' is no global array");
  if (step < 0 || static_cast<size_t>(step) >= of.places.size())
    return refuse_reading(err_invalid_timestep, "'" + of.name + "' has no step " + std::to_string(step));
  FOREBAY_TRY(SelectionCopy box, copy_selection(*bb));
  BoxReader reader(*file, *variable, step, std::move(box), static_cast<std::byte*>(data));
  for (const ADIOS_SELECTION& selection : selections) FOREBAY_CHECK(reader.add(selection));
  return {};
}

constexpr const char* kMethods[] = {"MINMAX", "FASTBIT", "ALACRITY"};

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;
using forebay::io::Outcome;

extern "C" {

int adios_query_is_method_available(ADIOS_QUERY_METHOD method) {
  return static_cast<size_t>(method) < std::size(kMethods) ? 1 : 0;
}

ADIOS_QUERY* adios_query_create(ADIOS_FILE* f, ADIOS_SELECTION* queryBoundary, const char* varName,
                                ADIOS_PREDICATE_MODE queryOp, const char* value) {
  return guarded_pointer([&] { return create(f, queryBoundary, varName, queryOp, value); });
}

ADIOS_QUERY* adios_query_combine(ADIOS_QUERY* q1, ADIOS_CLAUSE_OP_MODE combineOp, ADIOS_QUERY* q2) {
  return guarded_pointer([&] { return combine_queries(q1, combineOp, q2); });
}

void adios_query_set_method(ADIOS_QUERY* q, ADIOS_QUERY_METHOD method) {
  guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(const OpenQuery open, open_query(q));
    end(open);
    q->method = method;
    return {};
  });
}

int64_t adios_query_estimate(ADIOS_QUERY* q, int timeStep) {
  int64_t hits = -1;
  const int code = guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(const OpenQuery open, open_query(q));
    FOREBAY_TRY(const auto answer, QueryAnswer::make(open.file, open.state.parts, timeStep, {}));
    hits = static_cast<int64_t>(answer->most_hits());
    return {};
  });
  return code == err_no_error ? hits : -1;
}

ADIOS_QUERY_RESULT* adios_query_evaluate(ADIOS_QUERY* q, ADIOS_SELECTION* outputBoundary, int timestep,
                                         uint64_t batchSize) {
  ADIOS_QUERY_RESULT* result = nullptr;
  const int code = guarded([&]() -> Outcome<void> {
    result = allocate<ADIOS_QUERY_RESULT>(1);
    result->method_used = ADIOS_QUERY_METHOD_UNKNOWN;
    return evaluate(q, outputBoundary, timestep, batchSize, *result);
  });
  if (code != err_no_error && result != nullptr) result->status = ADIOS_QUERY_RESULT_ERROR;
  return result;
}

int adios_query_read_boundingbox(ADIOS_FILE* f, ADIOS_QUERY*, const char* varname, int timestep,
                                 unsigned int nselections, ADIOS_SELECTION* selections, ADIOS_SELECTION* bb,
                                 void* data) {
  return guarded([&]() -> Outcome<void> {
    if (selections == nullptr && nselections > 0)
      return refuse_reading(err_invalid_argument, "there are no selections to read");
    return read_boundingbox(f, varname, timestep, {selections, nselections}, bb, data);
  });
}

void adios_query_free(ADIOS_QUERY* q) {
  if (q == nullptr) return;
  delete static_cast<QueryState*>(q->queryInternal);
  std::free(q->condition);
  std::free(q->varName);
  std::free(q->predicateValue);
  std::free(q);
}

ADIOS_PREDICATE_MODE adios_query_getOp(const char* opStr) {
  const std::string_view sign = opStr ? opStr : "";
  if (sign == "<") return ADIOS_LT;
  if (sign == "<=") return ADIOS_LTEQ;
  if (sign == ">") return ADIOS_GT;
  if (sign == ">=") return ADIOS_GTEQ;
  return sign == "=" || sign == "==" ? ADIOS_EQ : ADIOS_NE;
}

ADIOS_AVAILABLE_QUERY_METHODS* adios_available_query_methods(void) {
  return guarded_pointer([&]() -> Outcome<ADIOS_AVAILABLE_QUERY_METHODS*> {
    auto* const methods = allocate<ADIOS_AVAILABLE_QUERY_METHODS>(1);
    methods->nmethods = static_cast<int>(std::size(kMethods));
    methods->name = allocate<char*>(std::size(kMethods));
    methods->methodID = allocate<ADIOS_QUERY_METHOD>(std::size(kMethods));
    for (size_t i = 0; i < std::size(kMethods); ++i) {
      methods->name[i] = malloc_copy(std::string_view(kMethods[i]));
      methods->methodID[i] = static_cast<ADIOS_QUERY_METHOD>(i);
    }
    return methods;
  });
}

void adios_available_query_methods_free(ADIOS_AVAILABLE_QUERY_METHODS* methods) {
  if (methods == nullptr) return;
  for (int i = 0; i < methods->nmethods; ++i) std::free(methods->name[i]);
  std::free(methods->name);
  std::free(methods->methodID);
  std::free(methods);
}
}
