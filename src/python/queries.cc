// Queries, with all that they find at once.
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/errors.h"
#include "python/module.h"
#include "python/run_handle.h"
#include "view/query/query.h"

namespace nb = nanobind;

namespace forebay::python {
namespace {

double as_double(const view::Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

// Matches as columns. Of elements `index` has one row for each, of boxes `index` and `count`.
struct Found final : view::QueryVisitor {
  explicit Found(bool with_values) : reads_values(with_values) {}

  void step(const view::StepInfo& info, const view::Step&, const view::Candidates& all) override {
    if (reads_values) return;
    for (const view::Candidate& one : all.candidates) {
      add(info, one.ranks, one.box.begin.size());
      index.insert(index.end(), one.box.begin.begin(), one.box.begin.end());
      count.insert(count.end(), one.box.count.begin(), one.box.count.end());
      everywhere.push_back(one.truth == view::Truth::all ? 1 : 0);
    }
  }
  void hits(const view::StepInfo& info, const view::Candidates& all, const view::Hits& some) override {
    const std::vector<uint32_t>& ranks = all.candidates[some.candidate].ranks;
    for (size_t i = 0; i < some.count; ++i) add(info, ranks, some.indices.size() / some.count);
    index.insert(index.end(), some.indices.begin(), some.indices.end());
    for (const view::Number& one : some.values) values.push_back(as_double(one));
  }
  void failed(const view::StepInfo&, const view::Candidate&, const Error& error) override { note(error); }
  void step_failed(const view::StepInfo&, const Error& error) override { note(error); }

  void add(const view::StepInfo& info, const std::vector<uint32_t>& ranks, size_t of) {
    number.push_back(info.number);
    rank.push_back(ranks.empty() ? 0 : ranks.front());
    dimensions = of;
  }
  void note(const Error& error) { errors.push_back(error); }

  const bool reads_values;
  std::vector<uint64_t> number, index, count;
  std::vector<uint32_t> rank;
  std::vector<uint8_t> everywhere;
  std::vector<double> values;
  size_t dimensions = 0;
  std::vector<Error> errors;
};

template <class T>
nb::bytearray column(const std::vector<T>& values) {
  return nb::bytearray(values.data(), values.size() * sizeof(T));
}

nb::dict query(const RunHandle& handle, const std::string& text, uint64_t begin, uint64_t end, bool values,
               bool first) {
  handle.check();
  Found found(values);
  const auto summary = unlocked([&]() -> Result<view::QuerySummary> {
    FOREBAY_TRY(const auto expression, view::parse_expression(text));
    view::QueryOptions options{.begin_step = begin, .end_step = end, .values = values, .first = first};
    return view::query(*handle.run, expression, options, found);
  });
  if (!summary) raise(summary.error());
  nb::list errors;
  for (const Error& error : found.errors) errors.append(exception_of(error));
  nb::dict all;
  all["number"] = column(found.number);
  all["rank"] = column(found.rank);
  all["index"] = column(found.index);
  all["count"] = column(found.count);
  all["everywhere"] = column(found.everywhere);
  all["values"] = column(found.values);
  all["dimensions"] = found.dimensions;
  all["errors"] = errors;
  all["steps"] = summary->steps;
  all["steps_found"] = summary->steps_found;
  return all;
}

}  // namespace

void declare_queries(nb::module_& module) { module.def("query", &query); }

}  // namespace forebay::python
