// forebay doctor: what of this machine Forebay would use, and what to change.
#include <algorithm>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/doctor_judge.h"
#include "cli/doctor_probe.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "forebay/version.h"

namespace forebay::cli {
namespace {

constexpr VerbText kDoctorText = {
    .name = "doctor",
    .summary = "tell what of this machine Forebay would use, and what to change",
    .usage = "[STORE] [--stage DIR] [--rendezvous DIR]",
    .description =
        "Looks at this machine as a job on it would find it: processors, memory and the\n"
        "limits on them, the kernel, the libraries and modules of this build, the batch\n"
        "system, and the directories of a job. In each directory, or in the nearest one\n"
        "above it that is there, it makes a hidden directory, tries locks, renames and\n"
        "syncs in it, and removes it again. Each line tells what was found and what\n"
        "Forebay does with it, and, where something is wrong, what to change:\n"
        "  note     nothing is wrong, but something is left unused, or good to know\n"
        "  warning  it works, but worse than it could, or may fail later\n"
        "  stop     a job would not run, or would not store its sets; the exit code is 12\n"
        "It knows this node only: run it on the others, too, as with 'srun'.\n",
    .examples =
        "  forebay doctor\n"
        "  forebay doctor /scratch/store --stage /dev/shm/ck\n"
        "  srun --ntasks-per-node=1 forebay doctor /scratch/store --json\n",
};

constexpr const char* kUsualStage = "/dev/shm";

void print_finding(const Finding& finding) {
  constexpr size_t kIndent = 9;
  const std::string found = fmt::format("{}: {}", finding.topic, printable(finding.found));
  fmt::print("{:<8} {}\n", to_string(finding.verdict), wrapped(found, kIndent));
  fmt::print("{:{}}{}\n", "", kIndent, wrapped(printable(finding.use), kIndent));
  if (!finding.change.empty())
    fmt::print("{:{}}{}\n", "", kIndent, wrapped("change: " + printable(finding.change), kIndent));
}

Json json_finding(const Finding& finding) {
  return {{"topic", json_text(finding.topic)},
          {"verdict", to_string(finding.verdict)},
          {"found", json_text(finding.found)},
          {"use", json_text(finding.use)},
          {"change", finding.change.empty() ? Json() : json_text(finding.change)}};
}

uint64_t count(const std::vector<Finding>& findings, Verdict verdict) {
  return static_cast<uint64_t>(std::ranges::count(findings, verdict, &Finding::verdict));
}

void print_as_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(json_finding(finding));
  print_json({{"verdict", to_string(gravest(findings))},
              {"version", FOREBAY_VERSION},
              {"stops", count(findings, Verdict::stop)},
              {"warnings", count(findings, Verdict::warning)},
              {"findings", std::move(list)}});
}

void print_all(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) print_finding(finding);
  const uint64_t stops = count(findings, Verdict::stop), warnings = count(findings, Verdict::warning);
  fmt::print("\n{}; {}.\n", stops == 0 ? "Nothing here stops a job" : plural(stops, "thing") + " would stop a job",
             warnings == 0 ? "no warnings" : plural(warnings, "warning"));
}

class Doctor final : public Verb {
 public:
  const VerbText& text() const override { return kDoctorText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    syntax.option("--stage", "DIR", "The stage of a job. Default: $FOREBAY_STAGE, else /dev/shm.", set_text(stage_));
    syntax.option("--rendezvous", "DIR", "The rendezvous directory of a job. Default: $FOREBAY_RENDEZVOUS, else none.",
                  set_text(rendezvous_));
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_CHECK(complete());
    Facts facts = probe_machine();
    if (!store_.empty()) facts.places.push_back(probe_place(Role::store, store_));
    facts.places.push_back(probe_place(Role::stage, stage_));
    if (!rendezvous_.empty()) facts.places.push_back(probe_place(Role::rendezvous, rendezvous_));
    const std::vector<Finding> findings = judge(facts);
    console.json ? print_as_json(findings) : print_all(findings);
    return gravest(findings) == Verdict::stop ? ExitCode::unfit : ExitCode::ok;
  }

 private:
  Result<void> complete() {
    if (operands_.size() > (store_.empty() ? 1u : 0u))
      return fail(ErrorKind::invalid_argument, fmt::format("unexpected argument '{}'", operands_.back()));
    if (!operands_.empty()) store_ = operands_.front();
    if (store_.empty()) store_ = store_of_environment();
    if (stage_.empty()) stage_ = of_environment("FOREBAY_STAGE");
    if (stage_.empty()) stage_ = kUsualStage;
    if (rendezvous_.empty()) rendezvous_ = of_environment("FOREBAY_RENDEZVOUS");
    return {};
  }

  std::vector<std::string> operands_;
  std::string store_, stage_, rendezvous_;
};

}  // namespace

std::unique_ptr<Verb> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace forebay::cli
