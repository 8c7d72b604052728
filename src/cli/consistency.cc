#include "cli/consistency.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/json.h"
#include "cli/text.h"
#include "cli/units.h"
#include "view/check/consistency.h"

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

}  // namespace

Result<ExitCode> print_consistency(const ConsistencyWish& wish, const Console& console) {
  FOREBAY_TRY(const auto run, view::open_run(wish.path, wish.opening));
  Json list = Json::array();
  const auto tell = [&](const view::Inconsistency& found) {
    if (console.json)
      list.push_back(json_inconsistency(found));
    else
      fmt::print("{}\n", printable(inconsistency_text(found)));
  };
  const view::CheckSummary summary = check_consistency(*run, {.values = wish.values, .optional = wish.optional}, tell);
  const bool consistent = summary.inconsistencies == 0;
  if (console.json)
    print_json({{"store", json_text(wish.path)},
                {"consistent", consistent},
                {"step_count", summary.steps},
                {"array_count", summary.arrays},
                {"block_count", summary.blocks},
                {"read_bytes", summary.cost.read_bytes},
                {"inconsistencies", std::move(list)}});
  else
    fmt::print("{}: {}, {}, {}: {}\n", printable(wish.path), plural(summary.steps, "step"),
               plural(summary.arrays, "array"), plural(summary.blocks, "block"),
               consistent                     ? "consistent"
               : summary.inconsistencies == 1 ? "1 INCONSISTENCY"
                                              : fmt::format("{} INCONSISTENCIES", summary.inconsistencies));
  return consistent ? ExitCode::ok : ExitCode::damaged;
}

}  // namespace forebay::cli
