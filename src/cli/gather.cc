// forebay gather: watches the directory of a code that knows nothing of Forebay, and copies complete sets into a stage.
#include "launch/gather/gather.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/daemon.h"
#include "cli/json.h"
#include "cli/rule_choice.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "launch/gather/gather_notes.h"
#include "launch/gather/put_back.h"
#include "launch/run/processes.h"

namespace forebay::cli {
namespace {

constexpr VerbText kGatherText = {
    .name = "gather",
    .summary = "copy the complete sets of a code that knows nothing of Forebay into a stage",
    .usage = "--stage DIR (--code NAME | --sets RULE) [--directory DIR] | --stage DIR --order begin|ended|killed",
    .description =
        "Watches the directory that a code works in. A recipe or rule says which files are\n"
        "a checkpoint set and when it is complete; its files are then copied to a directory\n"
        "of the stage, which an agent with '--complete rename' drains. Nothing of the code's\n"
        "directory is changed. It begins when it gets the order that the code begins, takes\n"
        "what lies there then for input, and settles what is left when the code has ended.\n"
        "With --put-back, a set that a restart brought is put where the code looks for it,\n"
        "as the recipe says; what would mislead the code goes to DIR/.forebay-aside.\n"
        "'forebay run --code' does all this itself.\n",
    .examples =
        "  forebay gather --stage /dev/shm/ck --code gromacs --directory md &\n"
        "  forebay gather --stage /dev/shm/ck --order begin\n"
        "  forebay gather --stage /dev/shm/ck --order killed\n",
};

constexpr std::chrono::seconds kOrderPatience{600};

class Gather final : public Verb {
 public:
  const VerbText& text() const override { return kGatherText; }

  void declare(Syntax& syntax) override {
    syntax.option("--stage", "DIR", "Copy sets into this stage. Default: $FOREBAY_STAGE.", set_text(stage_));
    syntax.option("--directory", "DIR", "Watch this directory. Default: the working directory.", set_text(directory_));
    declare_rule(syntax, choice_, false);
    syntax.option("--leave-out", "DIR", "Do not look into this directory (may be repeated).",
                  [this](const std::string& text) -> Result<void> {
                    leave_out_.push_back(text);
                    return {};
                  });
    syntax.option("--order", "EVENT", "Report that the code begins, has ended or was killed, and wait for the answer.",
                  [this](const std::string& text) { return set_order(text); });
    syntax.option("--put-back", "SET", "Put this set of the stage back into the directory, for a restart.",
                  set_text(put_back_));
    syntax.option("--restore-to", "DIR", "With --put-back: put the set into this directory instead.",
                  set_text(restore_to_));
    syntax.option("--restart-args", "WORDS", "With --put-back: append these words to the command.",
                  set_text(restart_args_));
    syntax.option("--restart-command", "WORDS", "With --put-back: these words are the command.",
                  set_text(restart_command_));
    declare_daemon(syntax, daemon_);
    declare_daemon_of_job(syntax, daemon_);
  }

  Result<ExitCode> run(const Console& console) override {
    namespace fs = std::filesystem;
    if (stage_.empty()) stage_ = of_environment("FOREBAY_STAGE");
    if (stage_.empty()) return fail(ErrorKind::invalid_argument, "no stage is given", {}, {}, "use --stage DIR");
    stage_ = fs::absolute(stage_).lexically_normal();
    if (order_) {
      FOREBAY_CHECK(launch::give_gather_order(stage_, *order_, kOrderPatience));
      if (console.json) print_json({{"stage", json_text(stage_)}});
      return ExitCode::ok;
    }
    directory_ = absolute_directory(directory_);
    FOREBAY_TRY(auto chosen, choose_rule(choice_));
    if (!put_back_.empty()) return put_back(std::move(chosen), console);
    return run_daemon("gather", daemon_, console,
                      [this, &chosen](Daemon& daemon) { return watch(std::move(chosen), daemon); });
  }

 private:
  Result<void> set_order(const std::string& text) {
    using Event = launch::GatherEvent;
    for (const auto& [name, event] :
         {std::pair("begin", Event::begin), std::pair("ended", Event::ended), std::pair("killed", Event::killed)})
      if (text == name) order_ = event;
    if (order_) return {};
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is none of begin, ended and killed", text));
  }

  Result<ExitCode> watch(ChosenRule chosen, Daemon& daemon) {
    launch::GatherOptions options{.directory = directory_,
                                  .stage = stage_,
                                  .leave_out = leave_out_,
                                  .rule = std::move(chosen.rule),
                                  .otherwise_named = chosen.name};
    options.log = [&](fabric::Severity severity, const std::string& text) {
      const bool is_warning = severity == fabric::Severity::warning;
      daemon.log(is_warning ? LogLevel::warning : LogLevel::info, text);
      if (!is_warning || !daemon_.until_eof) return;
      fmt::print("{}\n", printable(text));  // 'forebay run' passes it on
      std::fflush(stdout);
    };
    options.ready = [&] {
      if (auto ready =
              daemon.ready("watches " + directory_, {{"directory", json_text(directory_)}, {"pid", ::getpid()}});
          !ready)
        daemon.end(ready.error().message());
    };
    FOREBAY_CHECK(
        serve(daemon, {[&](std::stop_token stop) { return launch::run_gather(options, stop); }}, kTidySeconds));
    return ExitCode::ok;
  }

  // {} is the set's directory or file, as {path} is.
  static Result<std::vector<launch::rules::Template>> templates(const std::string& text) {
    FOREBAY_TRY(auto words, launch::split_words(text));
    std::vector<launch::rules::Template> made;
    for (std::string& word : words) {
      for (size_t at = 0; (at = word.find("{}", at)) != word.npos;) word.replace(at, 2, "{path}");
      FOREBAY_TRY(made.emplace_back(), launch::rules::parse_template(word));
    }
    return made;
  }

  Result<ExitCode> put_back(ChosenRule chosen, const Console& console) const {
    if (!restore_to_.empty()) {
      chosen.resume.is_in_place = false;
      chosen.resume.directory = std::filesystem::absolute(restore_to_).lexically_normal();
    }
    if (!restart_args_.empty()) {
      FOREBAY_TRY(chosen.resume.args, templates(restart_args_));
    }
    if (!restart_command_.empty()) {
      FOREBAY_TRY(chosen.resume.command, templates(restart_command_));
      if (restart_args_.empty()) chosen.resume.args.clear();
    }
    for (const auto& [name, text] : {std::pair("FOREBAY_SET", "{set}"), std::pair("FOREBAY_STEP", "{step}"),
                                     std::pair("FOREBAY_PATH", "{path}")}) {
      FOREBAY_TRY(auto value, launch::rules::parse_template(text));
      chosen.resume.env.try_emplace(name, std::move(value));
    }
    FOREBAY_CHECK(check_resume(chosen.resume, chosen.rule));
    const auto state = launch::read_gather_state(stage_);
    FOREBAY_TRY(const auto done, launch::put_back(stage_ + "/" + put_back_, directory_, chosen.rule, chosen.resume,
                                                  state ? state->known : std::vector<launch::rules::SetId>()));
    Json environment = Json::object();
    for (const auto& [name, value] : done.command.env) environment[name] = json_text(value);
    if (console.json) {
      print_json({{"aside", done.aside.empty() ? Json() : json_text(done.aside)},
                  {"moved", json_texts(done.moved)},
                  {"command_words", json_texts(done.command.command)},
                  {"argument_words", json_texts(done.command.args)},
                  {"environment", std::move(environment)}});
      return ExitCode::ok;
    }
    fmt::print("{} is put back\n", printable(put_back_));
    if (!done.aside.empty()) fmt::print("{} went to {}\n", plural(done.moved.size(), "file"), printable(done.aside));
    return ExitCode::ok;
  }

  std::string stage_, directory_, put_back_, restore_to_, restart_args_, restart_command_;
  std::vector<std::string> leave_out_;
  RuleChoice choice_;
  std::optional<launch::GatherEvent> order_;
  DaemonOptions daemon_;
};

}  // namespace

std::unique_ptr<Verb> make_gather() { return std::make_unique<Gather>(); }

}  // namespace forebay::cli
