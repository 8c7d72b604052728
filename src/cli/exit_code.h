// The exit codes of the command. Stable: scripts depend on them (docs/man/forebay.1, "EXIT STATUS").
#pragma once

#include <string_view>

#include "base/error.h"

namespace forebay::cli {

enum class ExitCode : int {
  ok = 0,
  failed = 1,        // the system failed: I/O error, permission, cancelled, no connection
  usage = 2,         // the command line makes no sense
  not_found = 3,     // a store, set, file or variable is not there
  exists = 4,        // a name is taken, a file is in the way
  damaged = 5,       // stored bytes are damaged
  no_space = 6,      // a file system, quota or file size limit is full
  changed = 7,       // a source changed while it was read
  limit = 8,         // the memory budget or another limit is too small
  unsupported = 9,   // newer than, or outside of, what this build can do
  different = 10,    // diff: the sets differ
  left = 11,         // run, stop, settle: something in a stage is not in the store
  unfit = 12,        // doctor: something on this machine would stop a job
  internal = 70,     // a defect of Forebay
  out_of_time = 75,  // run: the job's time was over before COMMAND was done; start it again
};

ExitCode exit_code_of(ErrorKind kind);

// The table of exit codes, for --help.
inline constexpr std::string_view kExitCodeHelp =
    "   0  success\n"
    "   1  the system failed: I/O error, permission, no connection\n"
    "   2  the command line makes no sense\n"
    "   3  a store, set, file or variable is not there\n"
    "   4  a name is taken, or a file is in the way\n"
    "   5  damage was found\n"
    "   6  no space left (file system, quota or file size limit)\n"
    "   7  a source changed while it was read; nothing was stored\n"
    "   8  a limit is too small: the memory budget, or that of open files\n"
    "   9  newer than, or outside of, what this build can do\n"
    "  10  diff: the sets differ\n"
    "  11  something that the application wrote was left in a stage, and is not stored\n"
    "  12  doctor: something on this machine would stop a job\n"
    "  70  a defect of Forebay; please report it\n"
    "  75  run: the job's time was over before the command was done; start it again\n";

}  // namespace forebay::cli
