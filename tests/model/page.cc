#include "page.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "job/clocks/clocks.h"
#include "job/coordinator/orders.h"
#include "job/coordinator/phases.h"
#include "launch/run/phases.h"

namespace forebay::job::model {
namespace {

// Mermaid's names have no blanks in them.
template <class Phase, class Event>
std::string life(std::span<const Transition<Phase, Event>> table, Phase first) {
  std::string diagram = fmt::format("```mermaid\nstateDiagram-v2\n    [*] --> {}\n", name_of(first));
  std::string rows = "| phase | event | next phase | then |\n|---|---|---|---|\n";
  for (const auto& one : table) {
    const std::string from = !one.from              ? "every phase"
                             : one.from == one.last ? std::string(name_of(*one.from))
                                                    : fmt::format("{} to {}", name_of(*one.from), name_of(*one.last));
    for (Phase phase = one.from.value_or(Phase()); one.from && phase <= *one.last;
         phase = static_cast<Phase>(static_cast<int>(phase) + 1))
      diagram += fmt::format("    {} --> {}: {}\n", name_of(phase), name_of(one.to), name_of(one.event));
    rows += fmt::format("| {} | {} | {} | {} |\n", from, name_of(one.event), name_of(one.to), one.then);
  }
  return diagram + "```\n\n" + rows;
}

std::string orders() {
  std::string rows = "| order | an agent is to | one that fails, is lost or is late | tries |\n|---|---|---|---|\n";
  for (size_t i = 0; i < kOrderKinds; ++i) {
    const OrderRule& rule = rule_of(static_cast<OrderKind>(i));
    const char* missing = rule.missing == Missing::forget ? "is left out: the others' answers count"
                          : rule.missing == Missing::fail ? "ends the order at once"
                                                          : "ends the order when all have answered";
    const std::string tries =
        rule.most_failures == 0 ? "until the time of the set is over" : std::to_string(rule.most_failures);
    rows += fmt::format("| {} | {} | {} | {} |\n", rule.name, rule.what, missing, tries);
  }
  return rows;
}

std::string clock_rows() {
  std::string rows = "| clock | option | seconds | |\n|---|---|---|---|\n";
  for (const TimeBound* clock : all_clocks())
    rows += fmt::format("| {} | {} | {} | {}{}{} |\n", clock->name,
                        clock->option.empty() ? "" : fmt::format("`{}`", clock->option), seconds_text(clock->length),
                        clock->bounds, clock->gives.empty() ? "" : " ", clock->gives);
  return rows;
}

Result<std::string> table_of(const std::string& name) {
  if (name == "set") return life(set_transitions(), SetPhase::incomplete);
  if (name == "restart") return life(restart_transitions(), RestartPhase::gathering);
  if (name == "run") return life(launch::run_transitions(), launch::RunPhase::starting);
  if (name == "orders") return orders();
  if (name == "clocks") return clock_rows();
  return fail(ErrorKind::invalid_argument, fmt::format("there is no table {}", name));
}

}  // namespace

Result<std::string> with_tables(const std::string& page) {
  constexpr std::string_view kBegin = "<!-- table: ", kNamed = " -->\n", kEnd = "<!-- end -->";
  std::string made;
  size_t at = 0;
  for (size_t begin; (begin = page.find(kBegin, at)) != std::string::npos;) {
    const size_t named = page.find(kNamed, begin), end = page.find(kEnd, begin);
    if (named == std::string::npos || end == std::string::npos || end < named)
      return fail(ErrorKind::invalid_argument, "a table without an end");
    const std::string name = page.substr(begin + kBegin.size(), named - begin - kBegin.size());
    FOREBAY_TRY(const std::string table, table_of(name));
    made += page.substr(at, named + kNamed.size() - at) + table;
    at = end;
  }
  return made + page.substr(at);
}

bool run_page(const std::string& file, bool update) {
  std::ifstream in(file);
  std::stringstream page;
  page << in.rdbuf();
  const auto made = with_tables(page.str());
  if (!made) {
    std::cerr << file << ": " << made.error().message() << '\n';
    return false;
  }
  if (*made == page.str()) return true;
  if (update) return static_cast<bool>(std::ofstream(file) << *made);
  std::cerr << file << " has other tables than the code: job_sim --update " << file << " writes them\n";
  return false;
}

}  // namespace forebay::job::model
