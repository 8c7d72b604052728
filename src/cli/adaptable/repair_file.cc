// `forebay repair FILE`.
#include "cli/adaptable/groups_file.h"
#include "cli/adaptable/verbs.h"
#include "cli/common.h"

namespace forebay::cli {
namespace {

constexpr VerbText kRepairFileText = {
    .name = "repair",
    .summary = "salvage an unfinished step of a file of process groups",
    .usage = "FILE [OPTIONS]",
    .description = "The part of 'forebay repair' for files that programs wrote through adios.h.\n",
    .examples = "  forebay repair run.bp\n",
    .is_interruptible = true,
};

class RepairFile final : public Verb {
 public:
  const VerbText& text() const override { return kRepairFileText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_memory(syntax, resources_);
    declare_threads(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    if (operands_.size() != 1) return fail(ErrorKind::invalid_argument, "FILE is missing");
    return repair_groups_file(operands_[0], resources_.resolved().memory_bytes, console);
  }

 private:
  std::vector<std::string> operands_;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_repair_file() { return std::make_unique<RepairFile>(); }

}  // namespace forebay::cli
