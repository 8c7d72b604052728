// forebay fetch: brings the newest set into the stages, for applications that do not ask themselves.
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "job/client/client.h"
#include "launch/run/nodes_file.h"

namespace forebay::cli {
namespace {

constexpr VerbText kFetchText = {
    .name = "fetch",
    .summary = "bring the newest set of a running job's store into the stages",
    .usage = "--stage DIR [--ranks LIST --of COUNT] [--timeout SECONDS]",
    .description =
        "Does at a restart what forebay_restart() does, for applications that do not call\n"
        "it: asks the agent of this node for the files of some ranks, and waits until they\n"
        "lie in the stage. All ranks of the job must be asked for, each on its node, at\n"
        "about the same time; all are given the same set, the newest one that is intact of\n"
        "the job's series. If it is of another number of ranks, that is an error, unless\n"
        "--any-ranks is given.\n"
        "Prints its directory, or nothing if there is no set. 'forebay run --restart-args'\n"
        "does all this.\n",
    .examples =
        "  forebay fetch --stage /dev/shm/ck --ranks 0-3 --of 4\n"
        "  mpiexec -n 8 -f hosts forebay fetch --stage /dev/shm/ck\n"
        "      each process asks for its own rank, which mpiexec or srun sets\n",
};

struct Ranks {
  std::vector<uint32_t> own;
  uint32_t total = 0;
};

// As the launcher of an MPI program tells its processes.
std::optional<Ranks> ranks_of_environment() {
  constexpr std::pair<const char*, const char*> kNames[] = {
      {"PMI_RANK", "PMI_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto& [rank, size] : kNames) {
    const auto own = parse_count(of_environment(rank)), total = parse_count(of_environment(size));
    if (own && total && *own < *total && *total <= UINT32_MAX)
      return Ranks{{static_cast<uint32_t>(*own)}, static_cast<uint32_t>(*total)};
  }
  return std::nullopt;
}

using Answer = Result<job::Client::Restart>;

Answer ask(const std::string& stage, uint32_t rank, uint32_t total, std::chrono::milliseconds timeout, bool any_ranks) {
  FOREBAY_TRY(const auto client, job::Client::connect(stage, rank, total));
  FOREBAY_TRY(auto answer, client->restart(timeout, any_ranks));
  if (answer.other_ranks != 0) return fail(ErrorKind::invalid_argument, answer.message);
  return answer;
}

class Fetch final : public Verb {
 public:
  const VerbText& text() const override { return kFetchText; }

  void declare(Syntax& syntax) override {
    syntax.option("--stage", "DIR", "The stage of this node. Default: $FOREBAY_STAGE.", set_text(stage_));
    syntax.option("--ranks", "LIST",
                  "The ranks of this node, as in 0-3,8. Default: this process's, under mpiexec or srun.",
                  set_text(list_));
    syntax.option("--of", "COUNT", "With --ranks: the ranks of the whole job.", set_count(total_));
    syntax.flag("--any-ranks", any_ranks_,
                "Take a set of another number of ranks, too: then the files of all its ranks come to each node.");
    syntax.option("--timeout", "SECONDS", "Wait this long at most. Default: 600.", set_seconds(timeout_));
  }

  Result<ExitCode> run(const Console& console) override {
    if (stage_.empty()) stage_ = of_environment("FOREBAY_STAGE");
    if (stage_.empty()) return fail(ErrorKind::invalid_argument, "no stage is given", {}, {}, "use --stage DIR");
    FOREBAY_TRY(const Ranks ranks, which_ranks());
    FOREBAY_TRY(const auto answer, ask_all(ranks));
    print(console, answer);
    return ExitCode::ok;
  }

 private:
  Result<Ranks> which_ranks() const {
    if (list_.empty()) {
      const auto own = ranks_of_environment();
      if (own) return *own;
      return fail(ErrorKind::invalid_argument, "no ranks are given", {}, {}, "use --ranks LIST --of COUNT, or mpiexec");
    }
    if (total_ == 0 || total_ > UINT32_MAX) return fail(ErrorKind::invalid_argument, "--ranks needs --of COUNT");
    const auto total = static_cast<uint32_t>(total_);
    FOREBAY_TRY(auto own, launch::parse_ranks(list_, total));
    return Ranks{std::move(own), total};
  }

  // The agent answers when all have asked: each rank waits in a thread of its own.
  Answer ask_all(const Ranks& ranks) const {
    std::vector<Answer> answers(ranks.own.size());
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < answers.size(); ++i)
        threads.emplace_back([&, i] { answers[i] = ask(stage_, ranks.own[i], ranks.total, timeout_, any_ranks_); });
    }
    for (Answer& answer : answers)
      if (!answer) return answer;
    return answers[0];
  }

  void print(const Console& console, const job::Client::Restart& answer) const {
    const auto& found = answer.found;
    const std::string directory = found ? (std::filesystem::path(stage_) / found->set).string() : "";
    if (console.json)
      print_json({{"set", found ? json_text(found->set) : Json()},
                  {"step", found && found->step ? Json(*found->step) : Json()},
                  {"rank_count", found ? Json(found->ranks) : Json()},
                  {"directory", found ? json_text(directory) : Json()},
                  {"message", answer.message.empty() ? Json() : json_text(answer.message)}});
    else if (found)
      fmt::print("{}\n", printable(directory));
    if (!answer.message.empty() && !console.json) warn(answer.message);
  }

  std::string stage_, list_;
  uint64_t total_ = 0;
  bool any_ranks_ = false;
  std::chrono::milliseconds timeout_{600'000};
};

}  // namespace

std::unique_ptr<Verb> make_fetch() { return std::make_unique<Fetch>(); }

}  // namespace forebay::cli
