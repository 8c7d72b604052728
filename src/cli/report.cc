// forebay report: a page about a run.
#include <filesystem>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/new_file.h"
#include "cli/read_options.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "report/collect.h"
#include "report/page.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr VerbText kReportText = {
    .name = "report",
    .summary = "write a page about a run: sizes, values of variables over the steps, damage",
    .usage = "STORE --to DIR",
    .description =
        "Writes DIR/index.html, a page that needs nothing else, no network and no script: when\n"
        "which set was saved, sizes and ratios over the sets, the smallest, largest and mean\n"
        "value of each variable over the steps with the step at which NaNs or infinities\n"
        "appear, which variables follow from others, and what is known to be damaged. Only manifests and indices are "
        "read, so that\n"
        "it takes little time; 'forebay verify' looks at every byte. Of large runs some steps\n"
        "and variables are left out, which the page tells.\n",
    .examples =
        "  forebay report st --to report\n"
        "  forebay report st --series blast --to /srv/www/blast\n"
        "  forebay report st --layout blocks.toml --to report\n",
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
    syntax.flag("--overwrite", overwrite_, "Replace an index.html that is no report of this command's.");
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
    FOREBAY_CHECK(check_ours(path));
    FOREBAY_TRY(NewFile file, NewFile::create(path));
    FOREBAY_CHECK(file.write(as_bytes(page)));
    FOREBAY_CHECK(file.commit(true));
    const auto bad = std::ranges::count_if(report.sets, [](const auto& set) { return !set.problem.empty(); });
    if (console.json)
      print_json({{"store", json_text(operands.store)},
                  {"to", json_text(path)},
                  {"sets", report.sets.size()},
                  {"variables", report.variables.size()},
                  {"damaged_sets", bad}});
    else
      fmt::print("{}: {} and {}{}\n", printable(path), plural(report.sets.size(), "set"),
                 plural(report.variables.size(), "variable"),
                 bad == 0 ? "" : fmt::format("; {} with damage", plural(static_cast<uint64_t>(bad), "set")));
    return ExitCode::ok;
  }

 private:
  // An older report is replaced, another page is not.
  Result<void> check_ours(const std::string& path) const {
    std::error_code ignored;
    if (overwrite_ || !std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return {};
    const auto source = FileSource::open(path);
    std::string begin(std::string_view(report::kPageBegin).size(), '\0');
    if (source && (*source)->size() >= begin.size() &&
        (*source)->read_at(0, std::as_writable_bytes(std::span(begin))) && begin == report::kPageBegin)
      return {};
    return fail(ErrorKind::exists, "is there already, and no report", path, {}, "use --overwrite to replace it");
  }

  std::vector<std::string> operands_;
  std::string store_, to_, layout_;
  bool overwrite_ = false;
  view::RunOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_report() { return std::make_unique<ReportVerb>(); }

}  // namespace forebay::cli
