// `forebay verify --consistency`: whether what ranks wrote goes together.
#include "view/check/consistency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/arrays/verbs.h"
#include "cli/common.h"
#include "cli/consistency_wish.h"
#include "cli/json.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "view/source/run.h"

namespace forebay::cli {
namespace {

std::string where_text(const view::Inconsistency& found) {
  std::string text = fmt::format("step {}", found.step.number);
  if (!found.step.set.empty()) text += fmt::format(" ({})", found.step.set);
  if (!found.variable.empty()) text += ": " + found.variable;
  return text;
}

std::string inconsistency_text(const view::Inconsistency& found) {
  std::string text = fmt::format("{}: {}: {}", where_text(found), to_string(found.kind), found.what);
  if (!found.ranks.empty())
    text += fmt::format("; {} {}{}", found.ranks.size() == 1 ? "rank" : "ranks", fmt::join(found.ranks, ", "),
                        found.ranks.size() == view::kMostRanksNamed ? " and perhaps others" : "");
  if (!found.box) return text;
  text += "; for example ";
  for (size_t d = 0; d < found.box->begin.size(); ++d)
    text += fmt::format("{}{}:{}", d > 0 ? "," : "", found.box->begin[d], found.box->begin[d] + found.box->count[d]);
  return text;
}

Json json_inconsistency(const view::Inconsistency& found) {
  return {{"number", found.step.number},
          {"step", found.step.step ? Json(*found.step.step) : Json()},
          {"set", found.step.set.empty() ? Json() : json_text(found.step.set)},
          {"kind", to_string(found.kind)},
          {"variable", found.variable.empty() ? Json() : json_text(found.variable)},
          {"ranks", found.ranks},
          {"case_count", found.count},
          {"begin", found.box ? Json(found.box->begin) : Json()},
          {"shape", found.box ? Json(found.box->count) : Json()},
          {"message", json_text(found.what)}};
}

// Prints what does not go together, and how much was looked at. damaged if anything does not.
ExitCode print_consistency(const view::Run& run, const view::CheckOptions& options, const Console& console) {
  Json list = Json::array();
  const auto tell = [&](const view::Inconsistency& found) {
    if (console.json)
      list.push_back(json_inconsistency(found));
    else
      fmt::print("{}\n", printable(inconsistency_text(found)));
  };
  const view::CheckSummary summary = check_consistency(run, options, tell);
  const bool consistent = summary.inconsistencies == 0;
  if (console.json)
    print_json({{"store", json_text(run.path())},
                {"consistent", consistent},
                {"step_count", summary.steps},
                {"array_count", summary.arrays},
                {"block_count", summary.blocks},
                {"read_bytes", summary.cost.read_bytes},
                {"inconsistencies", std::move(list)}});
  else
    fmt::print("{}: {}, {}, {}: {}\n", printable(run.path()), plural(summary.steps, "step"),
               plural(summary.arrays, "array"), plural(summary.blocks, "block"),
               consistent                     ? "consistent"
               : summary.inconsistencies == 1 ? "1 INCONSISTENCY"
                                              : fmt::format("{} INCONSISTENCIES", summary.inconsistencies));
  return consistent ? ExitCode::ok : ExitCode::damaged;
}

constexpr VerbText kConsistencyText = {
    .name = "verify",
    .summary = "look whether what the ranks wrote goes together",
    .usage = "STORE [NAME|latest] --consistency [OPTIONS]",
    .description = "The part of 'forebay verify' that looks at arrays.\n",
    .examples = "  forebay verify /scratch/store --consistency\n",
};

class VerifyConsistency final : public Verb {
 public:
  const VerbText& text() const override { return kConsistencyText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, series_);
    declare_consistency(syntax, wish_);
    declare_memory(syntax, resources_);
    declare_threads(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {0, 1}));
    view::RunOptions opening{.resources = resources_};
    FOREBAY_TRY(opening.series, series_or(series_, std::string()));
    if (!operands.own.empty()) opening.set = operands.own[0];
    FOREBAY_TRY(const auto run, view::open_run(operands.store, opening));
    return print_consistency(*run, {.values = wish_.values, .optional = wish_.optional}, console);
  }

 private:
  std::vector<std::string> operands_;
  std::string store_, series_;
  ConsistencyWish wish_;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_verify_consistency() { return std::make_unique<VerifyConsistency>(); }

}  // namespace forebay::cli
