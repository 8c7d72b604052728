// Going to the background, a log and signals: shared by the verbs that serve until a signal ends them.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/syntax.h"
#include "cli/verb.h"
#include "store/may_replace.h"

namespace forebay::cli {

struct DaemonOptions {
  std::string log_file, pid_file;
  bool background = false;
  bool until_eof = false;  // standard input is a lifeline: whoever holds its other end is to be survived by no means
};

// --log and --background.
void declare_daemon(Syntax& syntax, DaemonOptions& options);

// --pid-file and --until-eof.
void declare_daemon_of_job(Syntax& syntax, DaemonOptions& options);

enum class LogLevel : uint8_t { info, warning };

// A daemon's side of its start and of its end.
class Daemon {
 public:
  virtual ~Daemon() = default;

  // Thread-safe. Everything that is no plain text is made visible.
  virtual void log(LogLevel level, const std::string& text) = 0;

  // It serves from now on: prints `text`, or `document` with --json, lets a caller that waits for a daemon in the
  // background go on, and writes the pid file.
  virtual Result<void> ready(const std::string& text, const Json& document) = 0;

  // Waits for SIGTERM, SIGINT, SIGHUP, the end of standard input (--until-eof), or end(). What is to be put in order
  // afterwards has `tidy_seconds` before the process is killed, and a second signal ends it at once.
  virtual void wait(unsigned tidy_seconds) = 0;

  // Lets wait() return. From any thread. The reason goes to the log's file: what is wrong is on standard error anyway.
  virtual void end(const std::string& reason) = 0;
};

// What daemons have for putting things in order, unless they say otherwise.
inline constexpr unsigned kTidySeconds = 20;

using DaemonBody = std::function<Result<ExitCode>(Daemon& daemon)>;

// Runs `body` in this process or, with --background, in a process of its own that keeps neither terminal nor streams of
// this one; then the result is that of its start. `name` is that of the log's lines. No thread may have been started
// before.
Result<ExitCode> run_daemon(std::string_view name, const DaemonOptions& options, const Console& console,
                            const DaemonBody& body);

// Does each of `works` in a thread of its own until one returns or the daemon is told to end; then all are asked to
// stop, and waited for. The first error, in the order of `works`.
Result<void> serve(Daemon& daemon, const std::vector<std::function<Result<void>(std::stop_token)>>& works,
                   unsigned tidy_seconds);

// Writes a file that readers see whole or not at all, and that the user named unless `right` says otherwise.
Result<void> write_new(const std::string& path, const std::string& text, store::Right right = store::Right::named);

}  // namespace forebay::cli
