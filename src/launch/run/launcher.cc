#include "launch/run/launcher.h"

#include "launch/run/processes.h"

namespace forebay::launch {
namespace {

// A step of one task beside the application's, on processors that it has already; what sbatch was told of the
// application's tasks, and srun reads in the environment, is not meant for it.
Launcher srun() {
  return {.words = {"srun", "--overlap", "--nodes=1", "--ntasks=1", "--ntasks-per-node=1", "--cpu-bind=none",
                    "--mpi=none", "--kill-on-bad-exit=0", "--job-name=forebay"},
          .node_option = "--nodelist=",
          .has_shell = false};
}

}  // namespace

std::vector<std::string> Launcher::command(const std::string& host, const std::string& directory,
                                           const std::vector<std::string>& words_there) const {
  std::vector<std::string> all = words;
  all.push_back(node_option + host);
  const auto add = [&](const std::string& word) { all.push_back(has_shell ? shell_word(word) : word); };
  for (const std::string& word : {std::string("env"), std::string("-C"), directory}) add(word);
  for (const std::string& word : words_there) add(word);
  return all;
}

Result<Launcher> parse_launcher(const std::string& text, bool in_batch_job) {
  if (text == "srun" || (text == "auto" && in_batch_job)) return srun();
  if (text == "ssh" || text == "auto") return Launcher{.words = {"ssh", "-o", "BatchMode=yes"}, .node_option = ""};
  Launcher launcher;
  FOREBAY_TRY(launcher.words, split_words(text));
  if (launcher.words.empty()) return fail(ErrorKind::invalid_argument, "--launcher is empty");
  return launcher;
}

}  // namespace forebay::launch
