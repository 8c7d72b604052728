// forebay lockd: a lock server as a process of its own.
#include <chrono>

#include <fmt/format.h>
#include <unistd.h>

#include "base/bytes.h"
#include "cli/common.h"
#include "cli/daemon.h"
#include "cli/job_options.h"
#include "cli/json.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "lock/server.h"

namespace forebay::cli {
namespace {

constexpr VerbText kLockdText = {
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
        "  forebay lockd --listen unix:/run/user/1000/locks --background --log lockd.log\n",
};

class Lockd final : public Verb {
 public:
  const VerbText& text() const override { return kLockdText; }

  void declare(Syntax& syntax) override {
    syntax.option("-l,--listen", "ADDRESS", "tcp:HOST:PORT or unix:PATH; port 0 is any, host * every interface.",
                  add_text(listen_));
    syntax.option("--ports", "LOW-HIGH", "Take ports of TCP from this range. Default: $FOREBAY_PORTS, else any.",
                  set_text(ports_));
    syntax.option("--secret", "FILE", "Let in clients that know the secret in FILE.", set_text(secret_));
    syntax.flag("--new-secret", new_secret_, "Make the secret; the file must not be there yet.");
    syntax.flag("--munge", options_.credentials.munge, "Let in clients that MUNGE vouches for as this user.");
    syntax.option("--lease", "SECONDS", "Take the locks of a client that has been silent this long. Default: 10.",
                  set_seconds(options_.lease));
    syntax.option("--grace", "SECONDS", "Give them to others this much later. Default: 2.",
                  set_seconds(options_.grace));
    syntax.flag("--restarted", restarted_,
                "Another server ran before: grant nothing until its clients' leases are over.");
    syntax.option("--max-terms", "COUNT", "The longest list of one request. Default: 1048576.",
                  set_count(options_.max_terms));
    syntax.option("--client-memory", "SIZE", "For the requests of one client. Default: 256M.",
                  set_bytes(options_.max_client_memory));
    syntax.option("--address-file", "FILE", "Write the addresses there when the server is ready.",
                  set_text(address_file_));
    declare_daemon(syntax, daemon_);
  }

  Result<ExitCode> run(const Console& console) override {
    if (new_secret_ && secret_.empty()) return fail(ErrorKind::invalid_argument, "--new-secret needs --secret FILE");
    FOREBAY_CHECK(prepare());
    return run_daemon("lockd", daemon_, console, [this](Daemon& daemon) { return serve(daemon); });
  }

 private:
  Result<void> prepare() {
    for (const std::string& text : listen_) {
      FOREBAY_TRY(auto address, fabric::parse_address(text));
      options_.listen.push_back(std::move(address));
    }
    FOREBAY_TRY(options_.ports, fabric::parse_ports(ports_.empty() ? of_environment("FOREBAY_PORTS") : ports_));
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

  Result<ExitCode> serve(Daemon& daemon) {
    options_.log = [&daemon](lock::Severity severity, const std::string& text) {
      daemon.log(severity == lock::Severity::warning ? LogLevel::warning : LogLevel::info, text);
    };
    listen_by_default();
    FOREBAY_TRY(const auto server, lock::Server::start(options_));
    const std::string addresses = joined(server->addresses());
    if (!address_file_.empty()) FOREBAY_CHECK(write_new(address_file_, addresses + "\n"));
    daemon.log(LogLevel::info, "serves locks at " + addresses);
    FOREBAY_CHECK(daemon.ready(addresses, {{"addresses", json_addresses(server->addresses())}, {"pid", ::getpid()}}));
    daemon.wait(kTidySeconds);
    if (!address_file_.empty()) ::unlink(address_file_.c_str());
    return ExitCode::ok;
  }

  lock::ServerOptions options_;
  std::vector<std::string> listen_;
  std::string secret_, address_file_, ports_;
  DaemonOptions daemon_;
  bool new_secret_ = false, restarted_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_lockd() { return std::make_unique<Lockd>(); }

}  // namespace forebay::cli
