// forebay reject: sets a set aside, so that no restart takes it.
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/control.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/verb.h"
#include "store/store.h"

namespace forebay::cli {
namespace {

constexpr std::chrono::seconds kRejectElection{30};

constexpr VerbText kRejectText = {
    .name = "reject",
    .summary = "set a set aside: no restart takes it, and it stays for inspection",
    .usage = "STORE NAME [--reason TEXT] | NAME --rendezvous DIR [--reason TEXT]",
    .description =
        "For a set that the application cannot read. NAME is the set's name in\n"
        "the store. With --rendezvous the running job sets it aside, in its\n"
        "stages and in its store; NAME is what the application calls the set.\n"
        "'forebay run' does this itself after two starts from one set that completed no\n"
        "new set. 'forebay ls' shows the reason, 'restore NAME' still restores the set, and\n"
        "removing the file STORE/sets/NAME/.set-aside takes the decision back.\n",
    .examples = "  forebay reject store dump_0040 --reason 'the solver diverges from it'\n",
};

class Reject final : public Verb {
 public:
  const VerbText& text() const override { return kRejectText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    syntax.option("--rendezvous", "DIR", "Ask the running job that has this rendezvous directory.",
                  set_text(job_.rendezvous));
    syntax.flag("--munge", job_.munge, "With --rendezvous: let MUNGE vouch for the user.");
    syntax.option("--stored-as", "NAME", "With --rendezvous: name the set in the store. Default: as the job knows it.",
                  set_text(stored_as_));
    syntax.option("--reason", "TEXT", "Say why; 'forebay ls' shows it.", set_text(reason_));
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const std::string name, job_.rendezvous.empty() ? reject_in_store() : reject_in_job());
    if (console.json)
      print_json({{"set", json_text(name)}, {"reason", json_text(reason_)}});
    else
      fmt::print("{} is set aside: no restart takes it\n", printable(name));
    return ExitCode::ok;
  }

 private:
  Result<std::string> reject_in_store() const {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {1, 1, {"NAME"}}));
    FOREBAY_TRY(const auto store, store::Store::open(operands.store));
    FOREBAY_CHECK(store.set_aside(operands.own[0], reason_));
    return operands.own[0];
  }

  Result<std::string> reject_in_job() const {
    if (operands_.size() != 1)
      return fail(ErrorKind::invalid_argument, "one set is to be named", {}, {}, "see 'forebay reject --help'");
    FOREBAY_TRY(auto control,
                Control::reach(job_.rendezvous, job_.munge, std::chrono::steady_clock::now() + kRejectElection));
    FOREBAY_CHECK(control.reject(operands_[0], stored_as_, reason_));
    return operands_[0];
  }

  std::vector<std::string> operands_;
  std::string store_, stored_as_, reason_ = "it was set aside by 'forebay reject'";
  JobName job_;
};

}  // namespace

std::unique_ptr<Verb> make_reject() { return std::make_unique<Reject>(); }

}  // namespace forebay::cli
