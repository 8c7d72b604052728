#include "engine/restore/restore.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "store/series.h"

namespace forebay::cli {
namespace {

constexpr VerbText kRestoreText = {
    .name = "restore",
    .summary = "write the files of a set back, byte for byte",
    .usage = "NAME|latest --store STORE --to DIR [OPTIONS]",
    .description =
        "Restores the files of a set beneath DIR, which is made if it does not exist.\n"
        "Every byte is checked before it is written, and files get their names only when\n"
        "all that was asked for is there; a damaged set is refused, but its undamaged\n"
        "files can be had with --only. 'latest' is the newest set that is intact, which is the\n"
        "one that was completed last, whatever it is called: damaged newer ones are passed over\n"
        "with a warning. 'step:N' is the newest set with that step. In a store with several\n"
        "series both need --series. With --only, only containers that may hold such files are opened; those that\n"
        "are damaged as a whole are named and passed over, and the exit code is 5.\n"
        "Files belong to whoever restores them, so set-user-ID and set-group-ID bits are not\n"
        "given back, with a warning, unless --special-modes asks for them.\n",
    .examples =
        "  forebay restore latest --store /scratch/store --to run/restart\n"
        "  forebay restore DD0008 --store /scratch/store --to /tmp/look --only '*.cpu0003'\n"
        "  FOREBAY_STORE=/scratch/store forebay restore DD0008 --to run --overwrite\n",
    .is_interruptible = true,
};

Json json_report(const engine::RestoreReport& report, const std::string& target) {
  return {{"set", json_text(report.name)},
          {"to", json_text(target)},
          {"file_count", report.files},
          {"raw_bytes", report.bytes},
          {"seconds", report.seconds},
          {"skipped_sets", json_texts(report.skipped)},
          {"unread_containers", json_texts(report.unread)},
          {"without_special_modes", json_texts(report.without_special_modes)}};
}

std::string special_modes_text(const std::vector<std::string>& names) {
  constexpr size_t kMost = 4;
  std::string text = names.size() == 1 ? "1 entry was restored without its set-user-ID or set-group-ID bit: "
                                       : fmt::format(
                                             "{} entries were restored without their set-user-ID and "
                                             "set-group-ID bits: ",
                                             names.size());
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text + " (they would lend the one who restores to everybody; --special-modes gives them back)";
}

class Restore final : public Verb {
 public:
  const VerbText& text() const override { return kRestoreText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, options_.series);
    syntax.option("-t,--to", "DIR", "Where the files go.", set_text(options_.target));
    syntax.option(
        "--only", "GLOB",
        "Restore only files whose name inside the set matches this shell pattern; '*' also matches '/'. May be "
        "repeated.",
        add_text(options_.only));
    syntax.flag("--overwrite", options_.overwrite, "Replace files that exist. Default: refuse, and change nothing.");
    syntax.flag(
        "--special-modes", options_.special_modes,
        "Give back set-user-ID and set-group-ID bits, too. A file with such a bit runs as you, for everybody. Default: "
        "such bits are dropped.");
    declare_memory(syntax, options_.resources);
    declare_threads(syntax, options_.resources);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {1, 1, {"NAME"}}));
    if (options_.target.empty())
      return fail(ErrorKind::invalid_argument, "no target directory is given", {}, {}, "use --to DIR");
    options_.store = operands.store;
    options_.name = operands.own[0];
    FOREBAY_TRY(options_.series, series_or(options_.series, ""));
    if (store::asks_for_step(options_.name)) {
      FOREBAY_TRY(const auto store, store::Store::open(options_.store));
      FOREBAY_TRY(const auto info, find_set(store, options_.name, options_.series));
      options_.name = info.name;
    }
    FOREBAY_TRY(const auto report, restore());
    const ExitCode code = report.unread.empty() ? ExitCode::ok : ExitCode::damaged;
    if (console.json) {
      print_json(json_report(report, options_.target));
      return code;
    }
    for (const std::string& skipped : report.skipped)
      warn("passed over a set that is damaged or cannot be read: " + skipped);
    for (const std::string& unread : report.unread) warn("files of this container were not restored: " + unread);
    if (!report.without_special_modes.empty()) warn(special_modes_text(report.without_special_modes));
    fmt::print("restored {} to {}: {}, {}, {}, {}\n", printable(report.name), printable(options_.target),
               plural(report.files, "file"), format_bytes(report.bytes), format_duration(report.seconds),
               format_rate(report.bytes, report.seconds));
    return code;
  }

 private:
  Result<engine::RestoreReport> restore() {
    ProgressLine progress("restoring");
    options_.resources.progress = progress.callback();
    auto report = engine::restore(options_);
    if (report) return report;
    Error& error = report.error();
    if (error.kind == ErrorKind::corrupt && error.hint.empty() && options_.name != "latest")
      error.hint = fmt::format(
          "`forebay verify {0} {1}` names all that is damaged, --only restores files that are not, and `forebay repair "
          "{0} {1}` makes a new set of them",
          options_.store, options_.name);
    if (error.kind == ErrorKind::exists && !options_.overwrite && error.path != options_.target)
      error.hint = "use --overwrite to replace what is in the way, or restore into another directory";
    return report;
  }

  std::vector<std::string> operands_;
  std::string store_;
  engine::RestoreOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_restore() { return std::make_unique<Restore>(); }

}  // namespace forebay::cli
