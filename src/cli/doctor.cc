// forebay doctor: what of this machine Forebay would use, and what to change.
#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/doctor_code.h"
#include "cli/doctor_judge.h"
#include "cli/doctor_probe.h"
#include "cli/job_places.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "forebay/version.h"

namespace forebay::cli {
namespace {

constexpr VerbText kDoctorText = {
    .name = "doctor",
    .summary = "show what Forebay would use of this machine, and what to change",
    .usage = "[STORE] [--stage DIR] [--rendezvous DIR] [(--code NAME | --sets RULE) [-- COMMAND...]]",
    .description =
        "Looks at this machine as a job on it would find it: processors, memory and the\n"
        "limits on them, the kernel, the libraries and modules of this build, the batch\n"
        "system, and the directories of a job. In each directory, or in the nearest one\n"
        "above it that is there, it makes a hidden directory, tries locks, renames and\n"
        "syncs in it, and removes it again. Each line says what was found and what\n"
        "Forebay does with it, and, where something is wrong, what to change:\n"
        "  note     nothing is wrong, but something is left unused, or good to know\n"
        "  warning  it works, but worse than it could, or may fail later\n"
        "  stop     a job would not run, or would not store its sets; the exit code is 12\n"
        "It knows this node only: run it on the others, too, as with 'srun'.\n"
        "With --code or --sets also at the directory that a code works in: what would be\n"
        "taken for sets there, and what each of them lacks, what is left alone, what the\n"
        "recipe requires, and how COMMAND would read at a restart. Nothing is changed.\n",
    .examples =
        "  forebay doctor\n"
        "  forebay doctor /scratch/store --stage /dev/shm/ck\n"
        "  forebay doctor /scratch/store --code gromacs -- mpirun gmx_mpi mdrun -deffnm md\n"
        "  forebay doctor --code auto -- mpirun -n 4 icoFoam -parallel\n"
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
          {"message", json_text(finding.found)},
          {"use", json_text(finding.use)},
          {"change", finding.change.empty() ? Json() : json_text(finding.change)}};
}

uint64_t count(const std::vector<Finding>& findings, Verdict verdict) {
  return static_cast<uint64_t>(std::ranges::count(findings, verdict, &Finding::verdict));
}

void print_as_json(const std::vector<Finding>& findings, const std::optional<CodeLook>& code) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(json_finding(finding));
  Json document = {{"verdict", to_string(gravest(findings))},
                   {"version", FOREBAY_VERSION},
                   {"stop_count", count(findings, Verdict::stop)},
                   {"warning_count", count(findings, Verdict::warning)},
                   {"findings", std::move(list)}};
  document["code"] = code ? json_code(*code) : Json();
  print_json(document);
}

void print_all(const std::vector<Finding>& findings, const std::optional<CodeLook>& code) {
  for (const Finding& finding : findings) print_finding(finding);
  if (code) print_code(*code);
  const uint64_t stops = count(findings, Verdict::stop), warnings = count(findings, Verdict::warning);
  fmt::print("\n{}; {}.\n", stops == 0 ? "Nothing here stops a job" : plural(stops, "thing") + " would stop a job",
             warnings == 0 ? "no warnings" : plural(warnings, "warning"));
}

class Doctor final : public Verb {
 public:
  const VerbText& text() const override { return kDoctorText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    syntax.command(code_.command);
    declare_store(syntax, store_);
    syntax.option("--stage", "DIR", "The stage of a job. Default: $FOREBAY_STAGE, else /dev/shm.", set_text(stage_));
    syntax.option("--rendezvous", "DIR", "The rendezvous directory of a job. Default: $FOREBAY_RENDEZVOUS, else none.",
                  set_text(rendezvous_));
    declare_rule(syntax, code_.choice, true);
    syntax.option("--directory", "DIR",
                  "With --code or --sets: COMMAND writes its checkpoints below this directory. Default: the working "
                  "directory.",
                  set_text(code_.directory));
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_CHECK(complete());
    Facts facts = probe_machine();
    if (!store_.empty()) facts.places.push_back(probe_place(Role::store, store_));
    facts.places.push_back(probe_place(Role::stage, stage_));
    if (!rendezvous_.empty()) facts.places.push_back(probe_place(Role::rendezvous, rendezvous_));
    if (const auto job = job::Rendezvous::open_existing(rendezvous_)) facts.encrypts = job->encrypts();
    std::vector<Finding> findings = judge(facts);
    for (Finding& finding : judge_job_places(job_places(), false)) findings.push_back(std::move(finding));
    std::optional<CodeLook> code;
    if (code_.choice.is_given()) {
      FOREBAY_TRY(code, look_at_code(code_));
      findings.insert(findings.end(), code->findings.begin(), code->findings.end());
    }
    console.json ? print_as_json(findings, code) : print_all(findings, code);
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
    return complete_code();
  }

  // With the newest set of the store, of whatever series.
  JobPlaces job_places() const {
    JobPlaces places = probe_job_places(code_.stage, store_.empty() ? "" : std::filesystem::absolute(store_).string());
    if (const std::string own = of_environment("FOREBAY_STAGE"); !own.empty() && own != stage_)
      places.elsewhere.push_back({"the environment of this shell", own, stage_failure(own)});
    const auto store = store_.empty() ? fail(ErrorKind::not_found, "") : store::Store::open(store_);
    const auto sets = store ? store->list() : std::unexpected(store.error());
    if (sets && !sets->empty() && sets->back().manifest) {
      places.set = sets->back().name;
      places.set_bytes = sets->back().manifest->raw_bytes();
    }
    return places;
  }

  Result<void> complete_code() {
    if (!code_.choice.is_given() && (!code_.directory.empty() || !code_.command.empty()))
      return fail(ErrorKind::invalid_argument, "a command and --directory need --code or --sets");
    if (code_.choice.code == kAutoCode && code_.command.empty())
      return fail(ErrorKind::invalid_argument, "--code auto needs the command", {}, {}, "put it after '--'");
    code_.directory = absolute_directory(code_.directory);
    code_.stage = std::filesystem::absolute(stage_).lexically_normal();
    return {};
  }

  std::vector<std::string> operands_;
  CodeQuestion code_;
  std::string store_, stage_, rendezvous_;
};

}  // namespace

std::unique_ptr<Verb> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace forebay::cli
