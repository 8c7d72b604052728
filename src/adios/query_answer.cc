// Queries as expressions over boxes, and their answers in one step.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "adios/query.h"

namespace forebay::adios {
namespace {

using io::Outcome;

Outcome<view::Comparison> comparison_of(ADIOS_PREDICATE_MODE mode) {
  constexpr view::Comparison kComparisons[] = {view::Comparison::less,    view::Comparison::less_equal,
                                               view::Comparison::greater, view::Comparison::greater_equal,
                                               view::Comparison::equal,   view::Comparison::not_equal};
  const auto number = static_cast<size_t>(mode);
  if (number < std::size(kComparisons)) return kComparisons[number];
  return refuse_reading(err_invalid_argument, "a query has no comparison of the number " + std::to_string(number));
}

// The whole text, as a number.
template <class T>
bool parse_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Outcome<ReadPlace> place_at(const ReadFile& file, size_t variable, int timestep) {
  const ReadVariable& of = file.variables[variable];
  if (timestep >= 0 && static_cast<size_t>(timestep) < of.places.size())
    return of.places[static_cast<size_t>(timestep)];
  return refuse_reading(err_invalid_timestep, "'" + of.name + "' has " + std::to_string(of.places.size()) +
                                                  " steps, and step " + std::to_string(timestep) + " is asked for");
}

view::Window window_of(const ReadPlace& place, const std::optional<SelectionCopy>& boundary) {
  view::Window window{.array = place.array};
  if (!boundary) return window;
  if (boundary->type == ADIOS_SELECTION_WRITEBLOCK)
    window.block = static_cast<uint64_t>(boundary->block.index);
  else
    window.box = view::Box{boundary->start, boundary->count};
  return window;
}

io::Failure of_windows(const Error& error) {
  io::Failure failure = of_reading(error);
  if (error.kind == ErrorKind::invalid_argument) failure.code = static_cast<io::Code>(err_out_of_bound);
  if (error.kind == ErrorKind::unsupported) failure.code = static_cast<io::Code>(err_unsupported_selection);
  return failure;
}

}  // namespace

Outcome<QueryParts> make_condition(const ReadFile&, size_t variable, const ADIOS_SELECTION* boundary,
                                   ADIOS_PREDICATE_MODE comparison, const char* value) {
  QueryParts parts;
  view::Condition condition;
  FOREBAY_TRY(condition.comparison, comparison_of(comparison));
  const std::string_view text = value ? value : "";
  if (!parse_number(text, condition.value) || !parse_number(text, condition.exact))
    return refuse_reading(err_invalid_query_value, "'" + std::string(text) + "' is no number to compare with");
  QueryParts::Operand operand{variable, {}};
  if (boundary != nullptr) {
    FOREBAY_TRY(operand.boundary, copy_selection(*boundary));
    const auto& selected = *operand.boundary;
    const bool is_block = selected.type == ADIOS_SELECTION_WRITEBLOCK && !selected.block.is_sub_pg_selection &&
                          !selected.block.is_absolute_index && selected.block.index >= 0;
    if (selected.type != ADIOS_SELECTION_BOUNDINGBOX && !is_block)
      return refuse_reading(err_unsupported_selection, "a query is bounded by a box or by a block of the step",
                            "select a box, a block by its index in the step, or nothing");
  }
  parts.operands.push_back(std::move(operand));
  parts.expression.variables.push_back(view::WindowStep::name_of(0));
  parts.expression.conditions.push_back(condition);
  parts.expression.nodes.push_back({});
  return parts;
}

QueryParts combine(const QueryParts& one, ADIOS_CLAUSE_OP_MODE join, const QueryParts& other) {
  QueryParts both = one;
  view::Expression& all = both.expression;
  const size_t operands = one.operands.size(), conditions = all.conditions.size(), nodes = all.nodes.size();
  both.operands.insert(both.operands.end(), other.operands.begin(), other.operands.end());
  for (size_t i = operands; i < both.operands.size(); ++i) all.variables.push_back(view::WindowStep::name_of(i));
  for (view::Condition condition : other.expression.conditions) {
    condition.variable += operands;
    all.conditions.push_back(condition);
  }
  for (view::Expression::Node node : other.expression.nodes) {
    node.condition += conditions;
    for (size_t& child : node.children) child += nodes;
    all.nodes.push_back(std::move(node));
  }
  const auto how = join == ADIOS_QUERY_OP_OR ? view::Expression::Join::any : view::Expression::Join::all;
  all.nodes.push_back({.join = how, .condition = 0, .children = {nodes - 1, all.nodes.size() - 1}});
  return both;
}

Outcome<std::unique_ptr<QueryAnswer>> QueryAnswer::make(const ReadFile& file, const QueryParts& parts, int timestep,
                                                        const std::optional<SelectionCopy>& output) {
  std::optional<uint64_t> number;
  std::vector<view::Window> windows;
  const auto add = [&](size_t variable, const std::optional<SelectionCopy>& boundary) -> Outcome<void> {
    FOREBAY_TRY(const ReadPlace place, place_at(file, variable, timestep));
    if (number.value_or(place.step) != place.step)
      return refuse_reading(err_incompatible_queries, "the variables of the query were not written in the same steps");
    number = place.step;
    windows.push_back(window_of(place, boundary));
    return {};
  };
  for (const QueryParts::Operand& operand : parts.operands) FOREBAY_CHECK(add(operand.variable, operand.boundary));
  if (output) FOREBAY_CHECK(add(parts.operands[0].variable, output));
  auto step = file.run().step(*number);
  if (!step) return std::unexpected(of_reading(step.error()));
  auto seen = view::WindowStep::make(*step, std::move(windows));
  if (!seen) return std::unexpected(of_windows(seen.error()));

  auto answer = std::make_unique<QueryAnswer>();
  answer->step_ = *std::move(seen);
  const auto& arrays = answer->step_->arrays();
  for (const view::Array& array : arrays)
    if (array.shape != arrays[0].shape)
      return refuse_reading(err_incompatible_queries, "the boundaries of the query have different sizes");
  answer->expression_ = parts.expression;
  answer->origin_ = answer->step_->place(output ? arrays.size() - 1 : 0).begin;
  auto found = view::find_candidates(*answer->step_, answer->expression_);
  if (!found) return std::unexpected(of_windows(found.error()));
  answer->candidates_ = std::exchange(found->candidates, {});
  answer->found_ = *std::move(found);
  return answer;
}

uint64_t QueryAnswer::most_hits() const {
  uint64_t hits = 0;
  for (const view::Candidate& candidate : candidates_) hits += element_count(candidate.box.count);
  return hits;
}

std::vector<uint64_t> QueryAnswer::blocks() const {
  std::set<uint64_t> blocks;
  if (found_.scattered && !candidates_.empty())
    for (size_t i = 0; i < step_->arrays()[0].blocks; ++i) blocks.insert(step_->original(0, i));
  else
    for (const view::Candidate& candidate : candidates_) blocks.insert(step_->original(0, candidate.blocks[0]));
  return {blocks.begin(), blocks.end()};
}

// Takes the points of the next candidate.
Outcome<void> QueryAnswer::fill() {
  points_.clear();
  at_ = 0;
  view::Candidates one = found_;
  one.candidates.push_back(candidates_[next_++]);
  std::optional<Error> lost;
  const auto take = [&](const view::Hits& hits) {
    for (size_t i = 0; i < hits.indices.size(); ++i) points_.push_back(hits.indices[i] + origin_[i % origin_.size()]);
  };
  const auto done = view::refine(*step_, expression_, one,
                                 {.hits = take, .failed = [&](size_t, const Error& error) { lost = error; }});
  if (!done) return std::unexpected(of_reading(done.error()));
  if (lost) return std::unexpected(of_reading(*lost));
  return {};
}

Outcome<std::vector<uint64_t>> QueryAnswer::next(uint64_t most) {
  std::vector<uint64_t> points;
  const uint64_t numbers = most == 0 || most > UINT64_MAX / dimensions() ? UINT64_MAX : most * dimensions();
  while (points.size() < numbers) {
    if (at_ == points_.size()) {
      if (next_ == candidates_.size()) break;
      FOREBAY_CHECK(fill());
      continue;
    }
    const auto taken = static_cast<ptrdiff_t>(std::min<uint64_t>(numbers - points.size(), points_.size() - at_));
    const auto from = points_.begin() + static_cast<ptrdiff_t>(at_);
    points.insert(points.end(), from, from + taken);
    at_ += static_cast<size_t>(taken);
  }
  while (at_ == points_.size() && next_ < candidates_.size()) FOREBAY_CHECK(fill());  // is there more?
  return points;
}

}  // namespace forebay::adios
