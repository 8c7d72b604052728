// kill_at: a power cut for one process, at a chosen system call.
//
// Runs a command, counting over all its threads and children the system calls that change a file system (open for
// writing, write, fsync, rename, link, unlink, mkdir, truncate, chmod, utimens, close of what was written), and
//   kill_at -- COMMAND...                        only counts;
//   kill_at --kill N -- COMMAND...               kills everything with SIGKILL at the entry of the N-th;
//   kill_at --fail EIO --at N -- COMMAND...      makes the N-th return that error (EIO, ENOSPC, EDQUOT, EACCES, EROFS);
//   kill_at --full-from N -- COMMAND...          as if the disk were full from the N-th on.
// With --under PREFIX, only calls on files and directories whose absolute name starts with PREFIX count.
// With --reads-under PREFIX, what counts is opening and reading files whose absolute name starts with PREFIX instead.
// Exits as the command does, 137 if it was killed. With --report FILE, FILE gets a line of JSON: the number of calls,
// the one interfered with (null if the command finished before), the exit code (null) or the signal.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tracer.h"

namespace {

constexpr int kUsage = 2;

int error_named(std::string_view name) {
  if (name == "EIO") return EIO;
  if (name == "ENOSPC") return ENOSPC;
  if (name == "EDQUOT") return EDQUOT;
  if (name == "EACCES") return EACCES;
  if (name == "EROFS") return EROFS;
  return 0;
}

struct Arguments {
  crash::Plan plan;
  const char* report = nullptr;
  char** command = nullptr;  // null: the arguments make no sense
};

Arguments parse(int argc, char** argv) {
  using crash::Action;
  Arguments arguments;
  auto& [action, at, error, under, reads_under] = arguments.plan;
  int i = 1;
  for (; i + 1 < argc && std::string_view(argv[i]) != "--"; i += 2) {
    const std::string_view option = argv[i];
    const char* value = argv[i + 1];
    if (option == "--kill")
      action = Action::kill, at = std::strtoull(value, nullptr, 10);
    else if (option == "--fail")
      action = Action::fail, error = error_named(value);
    else if (option == "--at")
      at = std::strtoull(value, nullptr, 10);
    else if (option == "--full-from")
      action = Action::fail_onward, error = ENOSPC, at = std::strtoull(value, nullptr, 10);
    else if (option == "--under")
      under = value;
    else if (option == "--reads-under")
      reads_under = value;
    else if (option == "--report")
      arguments.report = value;
    else
      return {};
  }
  const bool is_whole = (action == Action::count || at > 0) && (action != Action::fail || error != 0);
  if (is_whole && i + 1 < argc && std::string_view(argv[i]) == "--") arguments.command = argv + i + 1;
  return arguments;
}

bool write_report(const char* path, const crash::Outcome& outcome) {
  std::FILE* file = std::fopen(path, "we");
  if (!file) return false;
  const std::string call = outcome.interfered.empty() ? "null" : "\"" + outcome.interfered + "\"";
  const std::string code = outcome.exit_code < 0 ? "null" : std::to_string(outcome.exit_code);
  std::fprintf(file, "{\"calls\": %llu, \"interfered\": %s, \"exit_code\": %s, \"signal\": %d}\n",
               static_cast<unsigned long long>(outcome.calls), call.c_str(), code.c_str(), outcome.signal);
  return std::fclose(file) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (!arguments.command) {
    std::fputs(
        "usage: kill_at [--kill N | --fail ERROR --at N | --full-from N] [--reads-under PREFIX] [--report FILE] -- "
        "COMMAND...\n",
        stderr);
    return kUsage;
  }
  const crash::Outcome outcome = crash::Tracer(arguments.plan).run(arguments.command);
  if (!arguments.report) std::fprintf(stderr, "kill_at: %llu calls\n", static_cast<unsigned long long>(outcome.calls));
  if (arguments.report && !write_report(arguments.report, outcome)) {
    std::perror(arguments.report);
    return kUsage;
  }
  return outcome.exit_code >= 0 ? outcome.exit_code : 128 + outcome.signal;
}
