// Queries: the last part of forebay_read.h.
#include "view/query/query.h"

#include <algorithm>
#include <cstring>

#include "api/read/handles.h"

namespace {

using namespace forebay;
using api::guarded, api::read_failed, api::refused;

double as_double(const view::Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

// Reports to the caller's function.
class Reporter final : public view::QueryVisitor {
 public:
  Reporter(forebay_read_match_fn match, void* context, bool values)
      : match_(match), context_(context), values_(values) {}

  void step(const view::StepInfo& info, const view::Step&, const view::Candidates& found) override {
    if (values_ || match_ == nullptr) return;
    for (const view::Candidate& candidate : found.candidates) {
      forebay_read_match match = start(info, candidate);
      match.dimensions = candidate.box.begin.size();
      match.begin = candidate.box.begin.data();
      match.count = candidate.box.count.data();
      match.everywhere = candidate.truth == view::Truth::all;
      match_(context_, &match);
    }
  }

  void hits(const view::StepInfo& info, const view::Candidates& found, const view::Hits& hits) override {
    if (match_ == nullptr) return;
    forebay_read_match match = start(info, found.candidates[hits.candidate]);
    match.dimensions = hits.indices.size() / hits.count;
    match.variables = hits.values.size() / hits.count;
    match.everywhere = 1;
    const std::vector<uint64_t> ones(match.dimensions, 1);
    std::vector<double> values(match.variables);
    for (size_t i = 0; i < hits.count; ++i) {
      for (size_t v = 0; v < match.variables; ++v) values[v] = as_double(hits.values[i * match.variables + v]);
      match.begin = hits.indices.data() + i * match.dimensions;
      match.count = ones.data();
      match.values = values.data();
      match_(context_, &match);
    }
  }

  void failed(const view::StepInfo&, const view::Candidate&, const Error& error) override { note(error); }
  void step_failed(const view::StepInfo&, const Error& error) override { note(error); }

  std::optional<Error> failure;  // the first

 private:
  static forebay_read_match start(const view::StepInfo& info, const view::Candidate& candidate) {
    forebay_read_match match{};
    match.number = info.number;
    match.set = info.set.c_str();
    match.has_time = info.time.has_value();
    match.time = info.time.value_or(0);
    match.ranks = candidate.ranks.data();
    match.rank_count = candidate.ranks.size();
    return match;
  }

  void note(const Error& error) {
    if (!failure) failure = error;
  }

  forebay_read_match_fn match_;
  void* context_;
  bool values_;
};

// As far as the caller's structure reaches.
void fill(forebay_read_query_summary& summary, const view::QuerySummary& known) {
  const view::ReadCost& cost = known.cost;
  const forebay_read_query_summary all{.size = summary.size,
                                       .steps = known.steps,
                                       .steps_found = known.steps_found,
                                       .blocks = known.blocks,
                                       .candidates = known.candidates,
                                       .elements = known.hits,
                                       .failures = known.failures,
                                       .value_bytes = known.value_bytes,
                                       .read_bytes = cost.read_bytes,
                                       .decoded_bytes = cost.decoded_bytes,
                                       .frames = cost.frames,
                                       .cached = cost.cached};
  std::memcpy(&summary, &all, std::min(sizeof all, summary.size));
}

}  // namespace

extern "C" int forebay_read_query(const forebay_read_run* run, const char* query, uint64_t begin, uint64_t end,
                                  unsigned flags, forebay_read_match_fn match, void* context,
                                  forebay_read_query_summary* summary) {
  if (run == nullptr || query == nullptr) return refused("no run or no query is given");
  if (summary != nullptr && !api::has_size(*summary)) return refused("the summary does not begin with its size");
  return guarded([&] {
    const auto expression = view::parse_expression(query);
    if (!expression) return read_failed(expression.error());
    view::QueryOptions options{.begin_step = begin, .end_step = end};
    options.values = (flags & FOREBAY_READ_QUERY_VALUES) != 0;
    options.first = (flags & FOREBAY_READ_QUERY_FIRST) != 0;
    Reporter reporter(match, context, options.values);
    const auto known = view::query(*run->run, *expression, options, reporter);
    if (!known) return read_failed(known.error());
    if (summary != nullptr) fill(*summary, *known);
    return reporter.failure ? read_failed(*reporter.failure) : int{FOREBAY_OK};
  });
}
