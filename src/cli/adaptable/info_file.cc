// `forebay info FILE` for files that are no container of a set.
#include <fmt/format.h>

#include "bp/index.h"
#include "cli/adaptable/groups_file.h"
#include "cli/adaptable/verbs.h"
#include "cli/common.h"
#include "engine/set/set.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr VerbText kInfoFileText = {
    .name = "info",
    .summary = "show what a file of process groups has",
    .usage = "FILE [OPTIONS]",
    .description = "The part of 'forebay info' for files that programs wrote through adios.h.\n",
    .examples = "  forebay info run.bp\n",
};

class InfoFile final : public Verb {
 public:
  const VerbText& text() const override { return kInfoFileText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    syntax.flag("-g,--groups", groups_, "Not for files.");
    syntax.flag("-r,--relations", relations_, "Not for files.");
    declare_memory(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    if (operands_.size() != 1) return fail(ErrorKind::invalid_argument, "FILE is missing");
    const std::string& path = operands_[0];
    FOREBAY_TRY(const uint64_t memory_bytes, engine::buffer_bytes(resources_.resolved().memory_bytes));
    FOREBAY_TRY(const auto groups_file, open_groups_file(path, memory_bytes));
    if (!groups_file) return refuse(path, memory_bytes);
    if (groups_ || relations_)
      return fail(ErrorKind::invalid_argument,
                  "--groups and --relations are for sets; this is a file of process groups", path, {},
                  "leave them out");
    show_groups_file(path, *groups_file, console);
    return ExitCode::ok;
  }

 private:
  static Result<ExitCode> refuse(const std::string& path, uint64_t memory_bytes) {
    FOREBAY_TRY(auto source, store::open_stored(path));
    FOREBAY_TRY(const auto is_bp, bp::read_footer(*source));
    if (is_bp)
      return fail(ErrorKind::invalid_argument, "this is a BP file of ADIOS 1.x, which Forebay did not store", path, {},
                  fmt::format("`forebay read {}` lists its arrays", path));
    if (container::looks_like_container(*source)) {
      FOREBAY_CHECK(engine::open_container(std::move(source), memory_bytes));
    }
    return fail(ErrorKind::invalid_argument, "this file is no container of a set", path, {},
                "give a store and the name of a set, or a container: STORE/sets/NAME/*.fbc");
  }

  std::vector<std::string> operands_;
  bool groups_ = false, relations_ = false;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_info_file() { return std::make_unique<InfoFile>(); }

}  // namespace forebay::cli
