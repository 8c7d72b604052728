#include "cli/daemon.h"

#include <cerrno>
#include <cstdio>
#include <optional>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/descriptors.h"
#include "cli/text.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

sigset_t end_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, number);
  return ends;
}

// The other end of a pipe on which a daemon in the background tells that it is ready, or why not.
class Starter {
 public:
  // Twice: in the process that was called, and in the daemon. Nothing in the former once the latter has answered.
  static Result<std::optional<Starter>> split(ExitCode& code) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "pipe", {});
    const pid_t child = ::fork();
    if (child < 0) return fail_errno(errno, "fork", {});
    if (child > 0) {
      ::close(ends[1]);
      code = wait_for_start(ends[0]);
      return std::nullopt;
    }
    ::setsid();
    Starter starter;
    starter.to_ = Fd(ends[1]);
    return starter;
  }

  // What the user sees, on either stream, and the exit code. Then the daemon keeps no stream of its caller.
  void answer(ExitCode code, const std::string& text) {
    if (!to_) return;
    std::string message(1, static_cast<char>(code));
    message += text;
    (void)!::write(to_.get(), message.data(), message.size());
    to_ = Fd();
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {0, 1, 2}) ::dup2(null, stream);
  }

 private:
  static ExitCode wait_for_start(int from) {
    std::string message;
    char buffer[4096];
    for (ssize_t got; (got = ::read(from, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);)
      if (got > 0) message.append(buffer, static_cast<size_t>(got));
    const auto code = message.empty() ? ExitCode::failed : static_cast<ExitCode>(message[0]);
    std::fputs(message.empty() ? "forebay: the daemon has died\n" : message.c_str() + 1,
               code == ExitCode::ok ? stdout : stderr);
    return code;
  }

  Fd to_;
};

Result<std::shared_ptr<spdlog::logger>> open_log(std::string_view name, const std::string& file) {
  try {
    spdlog::sink_ptr sink;
    if (file.empty())
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
    auto log = std::make_shared<spdlog::logger>(std::string(name), std::move(sink));
    log->flush_on(spdlog::level::info);
    log->set_error_handler([](const std::string&) {});  // a full disk ends the log, not the daemon
    return log;
  } catch (const spdlog::spdlog_ex& error) {
    return fail(ErrorKind::io, error.what(), file);
  }
}

class RunningDaemon final : public Daemon {
 public:
  RunningDaemon(const DaemonOptions& options, bool json, std::optional<Starter>& starter,
                std::shared_ptr<spdlog::logger> log)
      : options_(options), json_(json), starter_(starter), log_(std::move(log)), ends_(end_signals()) {}

  ~RunningDaemon() override {
    if (has_pid_file_) ::unlink(options_.pid_file.c_str());
  }

  // Signals are blocked before there is a thread, so that wait() is the only one to see them.
  Result<void> prepare() {
    ::sigprocmask(SIG_BLOCK, &ends_, nullptr);
    signals_ = Fd(::signalfd(-1, &ends_, SFD_CLOEXEC | SFD_NONBLOCK));
    ended_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!signals_ || !ended_) return fail_errno(errno, "signalfd", {});
    return {};
  }

  void log(LogLevel level, const std::string& text) override {
    log_->log(level == LogLevel::warning ? spdlog::level::warn : spdlog::level::info, printable(text));
  }

  Result<void> ready(const std::string& text, const Json& document) override {
    if (!options_.pid_file.empty()) {
      FOREBAY_CHECK(write_new(options_.pid_file, fmt::format("{}\n", ::getpid())));
      has_pid_file_ = true;
    }
    if (starter_) {
      starter_->answer(ExitCode::ok, fmt::format("{}\npid {}\n", text, ::getpid()));
      return {};
    }
    if (json_)
      print_json(document);
    else
      fmt::print("{}\n", text);
    std::fflush(stdout);
    return {};
  }

  void wait(unsigned tidy_seconds) override {
    while (!look(-1)) {
    }
    // SIGALRM, and a second signal, have their ordinary effect.
    ::alarm(tidy_seconds);
    ::sigprocmask(SIG_UNBLOCK, &ends_, nullptr);
  }

  void end(const std::string& reason) override {
    if (!options_.log_file.empty()) log(LogLevel::info, fmt::format("ends: {}", reason));
    const uint64_t one = 1;
    (void)!::write(ended_.get(), &one, sizeof one);
  }

 private:
  // Whether there is a reason to end.
  bool look(int timeout_ms) {
    pollfd waits[] = {
        {signals_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}, {options_.until_eof ? STDIN_FILENO : -1, POLLIN, 0}};
    if (::poll(waits, std::size(waits), timeout_ms) <= 0) return false;
    if (waits[1].revents != 0) return true;
    signalfd_siginfo info{};
    if (waits[0].revents != 0 && ::read(signals_.get(), &info, sizeof info) == sizeof info) {
      log(LogLevel::info, fmt::format("ends after signal {}", info.ssi_signo));
      return true;
    }
    if (waits[2].revents == 0) return false;
    char bytes[256];
    const ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN))) return false;
    log(LogLevel::info, "ends, as its starter is gone");
    return true;
  }

  const DaemonOptions& options_;
  bool json_, has_pid_file_ = false;
  std::optional<Starter>& starter_;
  std::shared_ptr<spdlog::logger> log_;
  sigset_t ends_;
  Fd signals_, ended_;
};

Result<ExitCode> serve(std::string_view name, const DaemonOptions& options, bool json, std::optional<Starter>& starter,
                       const DaemonBody& body) {
  FOREBAY_TRY(auto log, open_log(name, options.log_file));
  raise_descriptor_limit();  // every connection is one
  RunningDaemon daemon(options, json, starter, std::move(log));
  FOREBAY_CHECK(daemon.prepare());
  return body(daemon);
}

}  // namespace

void declare_daemon(Syntax& syntax, DaemonOptions& options) {
  syntax.option("--log", "FILE", "Append to this log. Default: standard error, nowhere with --background.",
                set_text(options.log_file));
  syntax.flag("--background", options.background, "Return when it is ready; it runs on.");
}

void declare_daemon_of_job(Syntax& syntax, DaemonOptions& options) {
  syntax.option("--pid-file", "FILE", "Write the number of the process there while it runs.",
                set_text(options.pid_file));
  syntax.flag("--until-eof", options.until_eof, "End when standard input ends, as after SIGTERM.");
}

Result<ExitCode> run_daemon(std::string_view name, const DaemonOptions& options, const Console& console,
                            const DaemonBody& body) {
  if (options.background && console.json)
    return fail(ErrorKind::invalid_argument, "--json does not go with --background");
  if (options.background && options.until_eof)
    return fail(ErrorKind::invalid_argument, "--until-eof does not go with --background");
  std::optional<Starter> starter;
  if (options.background) {
    ExitCode code = ExitCode::ok;
    FOREBAY_TRY(starter, Starter::split(code));
    if (!starter) return code;
  }
  auto done = serve(name, options, console.json, starter, body);
  if (starter && !done)
    starter->answer(exit_code_of(done.error().kind), fmt::format("forebay: {}\n", printable(done.error().message())));
  return done;
}

Result<void> serve(Daemon& daemon, const std::vector<std::function<Result<void>(std::stop_token)>>& works,
                   unsigned tidy_seconds) {
  std::vector<Result<void>> results(works.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < works.size(); ++i)
      threads.emplace_back([&, i](std::stop_token stop) {
        results[i] = works[i](stop);
        if (!stop.stop_requested()) daemon.end(results[i] ? "the job is over" : results[i].error().message());
      });
    daemon.wait(tidy_seconds);
    for (std::jthread& thread : threads) thread.request_stop();
  }
  for (Result<void>& result : results) FOREBAY_CHECK(std::move(result));
  return {};
}

Result<void> write_new(const std::string& path, const std::string& text, store::Right right) {
  FOREBAY_CHECK(store::may_replace(path, {.becomes = store::Thing::file, .right = right}));
  const std::string temporary = fmt::format("{}.{}", path, store::random_token());
  std::FILE* file = std::fopen(temporary.c_str(), "wxe");  // never through a link that others have put there
  if (file == nullptr) return fail_errno(errno, "open", temporary);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((std::fclose(file) != 0) | !written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int code = errno;
    std::remove(temporary.c_str());
    return fail_errno(code, "write", path);
  }
  return {};
}

}  // namespace forebay::cli
