// forebay lockd: a lock server as a process of its own.
#include <cerrno>
#include <chrono>
#include <cstdio>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "lock/server.h"

namespace forebay::cli {
namespace {

constexpr VerbText kText = {
    .name = "lockd",
    .summary = "serve locks on bytes of files",
    .usage = "[--listen ADDRESS]... [--secret FILE] [OPTIONS]",
    .description =
        "Grants locks on lists of byte ranges to the processes of one user: to MPI\n"
        "programs through libforebay_mpiio, and to any program through\n"
        "forebay/forebay_lock.h. Prints the addresses at which it can be reached, and runs\n"
        "until SIGTERM or SIGINT.\n"
        "\n"
        "Without --listen it takes the Unix socket @forebay-lockd-UID-TOKEN, where TOKEN is\n"
        "random, and, if there is a secret or MUNGE, a free TCP port of every interface.\n",
    .examples =
        "  forebay lockd --new-secret --secret ~/.forebay-secret --address-file addr &\n"
        "  FOREBAY_LOCK_SERVERS=$(cat addr) FOREBAY_LOCK_SECRET=~/.forebay-secret mpiexec ...\n"
        "  forebay lockd --listen unix:/run/user/1000/locks --detach --log lockd.log\n",
};

// Seconds with up to three decimals.
Setter set_seconds(std::chrono::milliseconds& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(const double seconds, parse_positive(text));
    if (seconds > 86400) return fail(ErrorKind::invalid_argument, "more than a day");
    to = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000 + 0.5));
    return {};
  };
}

std::string joined(const std::vector<fabric::Address>& addresses) {
  std::string text;
  for (const fabric::Address& address : addresses) text += (text.empty() ? "" : ",") + fabric::to_string(address);
  return text;
}

// The reader sees all of it or nothing.
Result<void> write_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}", path, ::getpid());
  std::remove(temporary.c_str());
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

// Every connection is a descriptor.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Blocked before there is a thread, so that wait() is the only one to see them.
sigset_t block_ends() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int number : {SIGTERM, SIGINT}) sigaddset(&ends, number);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

// The other end of a pipe on which a detached server tells that it is ready, or why not.
class Starter {
 public:
  // Twice: in the process that was called, and in the server. Nothing in the former once the latter has answered.
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
    starter.to_ = ends[1];
    return starter;
  }

  // What the user sees, on either stream, and the exit code. Then the server keeps no stream of its caller.
  void answer(ExitCode code, const std::string& text) {
    std::string message(1, static_cast<char>(code));
    message += text;
    (void)!::write(to_, message.data(), message.size());
    ::close(to_);
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
    std::fputs(message.empty() ? "forebay: the server has died\n" : message.c_str() + 1,
               code == ExitCode::ok ? stdout : stderr);
    return code;
  }

  int to_ = -1;
};

class Lockd final : public Verb {
 public:
  const VerbText& text() const override { return kText; }

  void declare(Syntax& syntax) override {
    syntax.option("-l,--listen", "ADDRESS", "tcp:HOST:PORT or unix:PATH; port 0 is any, host * every interface.",
                  add_text(listen_));
    syntax.option("--secret", "FILE", "Whoever knows this secret is let in.", set_text(secret_));
    syntax.flag("--new-secret", new_secret_, "Make the secret; the file must not be there yet.");
    syntax.flag("--munge", options_.credentials.munge, "Whoever MUNGE vouches for as this user is let in.");
    syntax.option("--lease", "SECONDS", "A client that is silent for so long loses its locks. Default: 10.",
                  set_seconds(options_.lease));
    syntax.option("--grace", "SECONDS", "So much later others get them. Default: 2.", set_seconds(options_.grace));
    syntax.flag("--restarted", restarted_,
                "Another server ran before: grant nothing until its clients' leases are over.");
    syntax.option("--max-terms", "COUNT", "The longest list of one request. Default: 1048576.",
                  set_count(options_.max_terms));
    syntax.option("--client-memory", "SIZE", "For the requests of one client. Default: 256M.",
                  set_bytes(options_.max_client_memory));
    syntax.option("--address-file", "FILE", "Write the addresses there when the server is ready.",
                  set_text(address_file_));
    syntax.option("--log", "FILE", "Append to this log. Default: standard error, nowhere with --detach.",
                  set_text(log_file_));
    syntax.flag("-d,--detach", detach_, "Return when the server is ready; it runs on.");
  }

  Result<ExitCode> run(const Console& console) override {
    if (new_secret_ && secret_.empty()) return fail(ErrorKind::invalid_argument, "--new-secret needs --secret FILE");
    if (detach_ && console.json) return fail(ErrorKind::invalid_argument, "--json does not go with --detach");
    FOREBAY_CHECK(prepare());
    std::optional<Starter> starter;
    if (detach_) {
      ExitCode code = ExitCode::ok;
      FOREBAY_TRY(starter, Starter::split(code));
      if (!starter) return code;
    }
    auto done = serve(console, starter);
    if (starter && !done)
      starter->answer(exit_code_of(done.error().kind), fmt::format("forebay: {}\n", printable(done.error().message())));
    return done;
  }

 private:
  Result<void> prepare() {
    for (const std::string& text : listen_) {
      FOREBAY_TRY(auto address, fabric::parse_address(text));
      options_.listen.push_back(std::move(address));
    }
    if (new_secret_) FOREBAY_CHECK(fabric::write_secret(secret_, fabric::new_secret()));
    if (!secret_.empty()) {
      FOREBAY_TRY(options_.credentials.secret, fabric::read_secret(secret_));
    }
    if (restarted_) options_.hold_off = options_.lease + options_.grace;
    return {};
  }

  void listen_by_default() {
    if (!options_.listen.empty()) return;
    // No other node may have a server of this name: clients there would take that one for this one.
    const auto token = load_le<uint64_t>(fabric::new_secret().data());
    const std::string name = fmt::format("@forebay-lockd-{}-{:016x}", ::geteuid(), token);
    options_.listen.push_back({fabric::Address::Kind::unix_socket, {}, 0, name});
    if (options_.credentials.secret || options_.credentials.munge)
      options_.listen.push_back({fabric::Address::Kind::tcp, "*", 0, {}});
  }

  Result<std::shared_ptr<spdlog::logger>> make_log() const {
    try {
      auto log = log_file_.empty()
                     ? std::make_shared<spdlog::logger>("lockd", std::make_shared<spdlog::sinks::stderr_sink_mt>())
                     : std::make_shared<spdlog::logger>("lockd",
                                                        std::make_shared<spdlog::sinks::basic_file_sink_mt>(log_file_));
      log->flush_on(spdlog::level::info);
      log->set_error_handler([](const std::string&) {});
      return log;
    } catch (const spdlog::spdlog_ex& error) {
      return fail(ErrorKind::io, error.what(), log_file_);
    }
  }

  Result<ExitCode> serve(const Console& console, std::optional<Starter>& starter) {
    FOREBAY_TRY(const auto log, make_log());
    options_.log = [log](lock::Severity severity, const std::string& text) {
      log->log(severity == lock::Severity::warning ? spdlog::level::warn : spdlog::level::info, printable(text));
    };
    raise_descriptor_limit();
    listen_by_default();
    const sigset_t ends = block_ends();
    FOREBAY_TRY(const auto server, lock::Server::start(options_));
    const std::string addresses = joined(server->addresses());
    if (!address_file_.empty()) FOREBAY_CHECK(write_file(address_file_, addresses + "\n"));
    log->info("serves locks at {}", addresses);
    announce(console, starter, addresses);
    int number = 0;
    while (::sigwait(&ends, &number) != 0) {
    }
    log->info("ends after signal {}", number);
    if (!address_file_.empty()) ::unlink(address_file_.c_str());
    return ExitCode::ok;
  }

  static void announce(const Console& console, std::optional<Starter>& starter, const std::string& addresses) {
    if (starter) return starter->answer(ExitCode::ok, fmt::format("{}\npid {}\n", addresses, ::getpid()));
    if (console.json)
      print_json({{"addresses", json_text(addresses)}, {"pid", ::getpid()}});
    else
      fmt::print("{}\n", addresses);
    std::fflush(stdout);
  }

  lock::ServerOptions options_;
  std::vector<std::string> listen_;
  std::string secret_, address_file_, log_file_;
  bool new_secret_ = false, restarted_ = false, detach_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_lockd() { return std::make_unique<Lockd>(); }

}  // namespace forebay::cli
