#include "engine/inspect/repair.h"

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/extension.h"
#include "cli/file_operand.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace forebay::cli {
namespace {

constexpr VerbText kRepairText = {
    .name = "repair",
    .summary = "salvage the intact files of a damaged set, or an unfinished step of a file",
    .usage = "STORE NAME [--as NEWNAME] [OPTIONS] | FILE [OPTIONS]",
    .description =
        "Rebuilds lost indices and trailers from the records that are whole, and writes the\n"
        "files that can be saved as the new set NEWNAME. The damaged set stays as it is.\n"
        "The exit code is 5 if files are lost; they are listed. A set without damage is left\n"
        "alone, and no set is written.\n"
        "FILE is one that a program wrote through adios.h and whose last step was never\n"
        "finished, as when a job was killed: the process groups of that step that are whole\n"
        "become visible, in the file itself. The steps before it need no repair.\n",
    .examples =
        "  forebay repair /scratch/store DD0008\n"
        "      writes DD0008-repaired, if DD0008 is damaged\n"
        "  forebay repair /scratch/store DD0008 --as DD0008.saved --json\n"
        "  forebay repair run.bp\n",
    .is_interruptible = true,
};

class Repair final : public Verb {
 public:
  const VerbText& text() const override { return kRepairText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    syntax.option("--as", "NEWNAME", "Name of the new set. Default: NAME-repaired.", set_text(new_name_));
    declare_memory(syntax, resources_);
    declare_threads(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const bool has_file, names_file(store_, operands_));
    if (has_file && new_name_.empty()) return become("forebay-adaptable", console.words);
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {1, 1, {"NAME"}}));
    FOREBAY_TRY(const auto store, store::Store::open_for_writing(operands.store));
    const std::string& name = operands.own[0];
    FOREBAY_TRY(const auto report, repair(store, name));
    if (console.json)
      print_json({{"set", json_text(name)},
                  {"repaired_set", report.name.empty() ? Json() : json_text(report.name)},
                  {"rewritten_container_count", report.containers_rewritten},
                  {"lost_container_count", report.containers_lost},
                  {"lost_frame_count", report.frames_lost},
                  {"whole_files", json_texts(report.whole_files)},
                  {"lost_files", json_texts(report.lost_files)},
                  {"remarks", json_texts(report.remarks)}});
    else
      print(name, report);
    return report.lost_files.empty() && report.containers_lost == 0 ? ExitCode::ok : ExitCode::damaged;
  }

 private:
  Result<engine::RepairReport> repair(const store::Store& store, const std::string& name) {
    ProgressLine progress("repairing");
    resources_.progress = progress.callback();
    return engine::repair(store, name, new_name_.empty() ? name + "-repaired" : new_name_, resources_);
  }

  static void print(const std::string& name, const engine::RepairReport& report) {
    for (const std::string& remark : report.remarks) fmt::print("note: {}\n", printable(remark));
    for (const std::string& file : report.lost_files) fmt::print("lost: {}\n", printable(file));
    if (report.name.empty())
      fmt::print("{}: nothing to repair\n", printable(name));
    else
      fmt::print("{}: {} saved as {}, {} lost ({} rewritten, {} lost)\n", printable(name),
                 plural(report.whole_files.size(), "file"), printable(report.name), report.lost_files.size(),
                 plural(report.containers_rewritten, "container"), plural(report.frames_lost, "frame"));
  }

  std::vector<std::string> operands_;
  std::string store_, new_name_;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_repair() { return std::make_unique<Repair>(); }

}  // namespace forebay::cli
