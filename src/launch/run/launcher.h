// What starts a command on another node. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::launch {

struct Launcher {
  std::vector<std::string> words;  // before the node
  std::string node_option;         // before the node's name, in one word with it; empty: the name is a word
  bool has_shell = true;           // what follows the node goes through a shell on the way, as with ssh

  // `words` in `directory` of `host`.
  std::vector<std::string> command(const std::string& host, const std::string& directory,
                                   const std::vector<std::string>& words_there) const;
};

// "srun" for a step within the Slurm job, "ssh", "auto" (the former in a job of a batch system, else the latter), or a
// command to which the node's name and the words are appended. invalid_argument if it is empty or a quote has no end.
Result<Launcher> parse_launcher(const std::string& text, bool in_batch_job);

}  // namespace forebay::launch
