// forebay report: a page about a run.
#include <filesystem>

#include <fmt/format.h>

#include "cli/arrays/new_file.h"
#include "cli/arrays/read_options.h"
#include "cli/arrays/verbs.h"
#include "cli/common.h"
#include "cli/extension.h"
#include "cli/json.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/unread.h"
#include "report/collect.h"
#include "report/page.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr VerbText kReportText = {
    .name = "report",
    .summary = find_extension("report")->summary,
    .usage = "STORE --to DIR",
    .description =
        "Writes DIR/index.html, a page that needs nothing else, no network and no script: when\n"
        "which set was saved, sizes and ratios over the sets, the smallest, largest and mean\n"
        "value of each variable over the steps with the step at which NaNs or infinities\n"
        "appear, which variables follow from others, and what is known to be damaged. Only manifests and indices are "
        "read, so that\n"
        "it takes little time; 'forebay verify' looks at every byte. Of large runs some steps\n"
        "and variables are left out, which the page says. An older report in DIR is replaced,\n"
        "another page is not.\n",
    .examples =
        "  forebay report st --to report\n"
        "  forebay report st --series blast --to /srv/www/blast\n"
        "  forebay report st --layout blocks.toml --to report\n",
    .is_interruptible = true,
};

class ReportVerb final : public Verb {
 public:
  const VerbText& text() const override { return kReportText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, options_.series);
    syntax.option("-t,--to", "DIR", "The directory that gets index.html. It is made if it is not there.",
                  set_text(to_));
    declare_layout(syntax, layout_);
    declare_memory(syntax, options_.resources);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {0, 0}));
    if (to_.empty()) return fail(ErrorKind::invalid_argument, "it is not said where to write", {}, {}, "give --to DIR");
    FOREBAY_TRY(options_.series, series_or(options_.series, std::string()));
    FOREBAY_TRY(options_.layout, layout_text(layout_));
    FOREBAY_TRY(const report::Report report, report::collect(operands.store, options_, {}));
    const std::string page = report::page_of(report);
    const std::string path = (std::filesystem::path(to_) / "index.html").string();
    FOREBAY_CHECK(store::make_directory(to_, "give another directory"));
    FOREBAY_TRY(NewFile file, NewFile::create(path, true, report::kPageBegin));
    FOREBAY_CHECK(file.write(as_bytes(page)));
    FOREBAY_CHECK(file.commit());
    const auto bad = std::ranges::count_if(report.sets, [](const auto& set) { return !set.problem.empty(); });
    Json unread = Json::array();
    for (const report::PlainFiles& kind : report.plain_files)
      unread.push_back(json_unread({kind.format, kind.looks, kind.files, kind.bytes, kind.example}));
    if (console.json)
      print_json({{"store", json_text(operands.store)},
                  {"to", json_text(path)},
                  {"set_count", report.sets.size()},
                  {"variable_count", report.variables.size()},
                  {"damaged_set_count", bad},
                  {"files_without_arrays", std::move(unread)}});
    else
      fmt::print("{}: {} and {}{}\n", printable(path), plural(report.sets.size(), "set"),
                 plural(report.variables.size(), "variable"),
                 bad == 0 ? "" : fmt::format("; {} with damage", plural(static_cast<uint64_t>(bad), "set")));
    if (!console.json && !report.plain_set.empty()) fmt::print("{}\n", printable(no_arrays_text(report.plain_set)));
    return ExitCode::ok;
  }

 private:
  std::vector<std::string> operands_;
  std::string store_, to_, layout_;
  view::RunOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_report() { return std::make_unique<ReportVerb>(); }

}  // namespace forebay::cli
