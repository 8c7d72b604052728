#include "view/query/query.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "cli/arrays/query_rows.h"
#include "cli/arrays/read_options.h"
#include "cli/arrays/reason.h"
#include "cli/arrays/verbs.h"
#include "cli/common.h"
#include "cli/extension.h"
#include "cli/series.h"

namespace forebay::cli {
namespace {

constexpr VerbText kQueryText = {
    .name = "query",
    .summary = find_extension("query")->summary,
    .usage = "STORE|FILE 'temperature > 1e6 and density < 0.1' [OPTIONS]",
    .description =
        "The sets of a store are the steps of a run, and so are the steps of a file that\n"
        "grows. From the smallest and largest value of each rank's block, which the\n"
        "indices have, it finds where the comparisons may hold; nothing else is read. With\n"
        "--values it reads the blocks that are left, and lists the elements themselves.\n"
        "Comparisons are <, <=, >, >=, == and != of a variable with a number, or\n"
        "nan(VARIABLE), joined by 'and', 'or', 'not' and parentheses. Names with other\n"
        "characters than letters, digits and _/.@:- are quoted. A value that is no number\n"
        "makes every comparison false. 'forebay read STORE' lists variables.\n",
    .examples =
        "  forebay query store 'Temperature > 1e6' --first\n"
        "  forebay query store 'Temperature > 1e6 and Density < 0.1' --values --limit 10\n"
        "  forebay query store 'nan(Density)' --steps 10:20 --json\n"
        "  forebay query run.bp '\"x velocity\" != 0' --values --csv > hits.csv\n",
};

constexpr uint64_t kTextRows = 50;

class Query final : public Verb {
 public:
  const VerbText& text() const override { return kQueryText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, series_);
    syntax.option("--steps", "N|FIRST:END",
                  "Only these steps, counted from 0, or from the last one with -1, -2, ...; END is not included. "
                  "Default: all steps.",
                  set_steps(steps_));
    syntax.flag("--values", options_.values, "Read the values of the blocks that are left, and list elements.");
    syntax.flag("--first", options_.first, "Stop behind the first step in which it holds; without --values, may hold.");
    syntax.option("--limit", "N",
                  "List at most N blocks or elements; all are counted. Default: 50, and all with --json or --csv.",
                  set_count(limit_));
    syntax.flag("--csv", csv_, "Print lines of comma-separated values, the first one with titles.");
    declare_raw(syntax, raw_);
    declare_skip_damaged(syntax, skip_damaged_);
    declare_layout(syntax, layout_);
    declare_memory(syntax, resources_);
    declare_threads(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {1, 1, {"QUERY"}}));
    if (csv_ && console.json) return fail(ErrorKind::invalid_argument, "--json and --csv exclude each other");
    const auto expression = view::parse_expression(operands.own[0]);
    if (!expression) return std::unexpected(unless_set(expression.error(), operands.store, operands.own));
    view::RunOptions opening{.resources = resources_};
    opening.raw = raw_;
    FOREBAY_TRY(opening.series, series_or(series_, std::string()));
    FOREBAY_TRY(opening.layout, layout_text(layout_));
    FOREBAY_TRY(const auto run, view::open_run(operands.store, opening));
    FOREBAY_TRY(std::tie(options_.begin_step, options_.end_step), steps_of(*run, steps_));
    const engine::Resources resolved = resources_.resolved();
    options_.threads = resolved.threads;
    options_.tile_bytes = std::clamp<uint64_t>(resolved.memory_bytes / 8, 1, options_.tile_bytes);
    const RowForm form = console.json ? RowForm::json : csv_ ? RowForm::csv : RowForm::text;
    const uint64_t most = form == RowForm::text ? kTextRows : std::numeric_limits<uint64_t>::max();
    const auto rows = QueryRows::make(form, run->path(), operands.own[0], expression->variables, options_.values,
                                      limit_ > 0 ? limit_ : most);
    if (skip_damaged_) rows->skip_damaged();
    const auto summary = view::query(*run, *expression, options_, *rows);
    if (!summary)
      return std::unexpected(
          with_reason(summary.error(), *run, options_.end_step - 1, expression->variables, resources_));
    rows->finish(*summary);
    return rows->failure() ? exit_code_of(*rows->failure()) : ExitCode::ok;
  }

 private:
  std::vector<std::string> operands_;
  std::string store_, series_, layout_;
  StepRange steps_{0, {}, true};
  view::QueryOptions options_;
  uint64_t limit_ = 0;
  bool csv_ = false, raw_ = false, skip_damaged_ = false;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_query() { return std::make_unique<Query>(); }

}  // namespace forebay::cli
