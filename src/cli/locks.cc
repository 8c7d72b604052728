// forebay locks: who holds and who waits, as a lock server tells.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "lock/inspect.h"

namespace forebay::cli {
namespace {

constexpr VerbText kLocksText = {
    .name = "locks",
    .summary = "show who holds and who waits for locks",
    .usage = "[SERVER] [--secret FILE] [--watch]",
    .description =
        "Asks a lock server who holds which bytes of which file, and who waits for whom.\n"
        "SERVER has the addresses of the server with commas between them, as lockd prints\n"
        "them. Without it, each server of $FOREBAY_LOCK_SERVERS is asked.\n",
    .examples =
        "  forebay locks $(cat addr) --secret ~/.forebay-secret\n"
        "  forebay locks --watch\n",
};

constexpr std::chrono::seconds kLocksPeriod{1};

std::string client_name(const lock::wire::StatusClient* client, uint64_t session) {
  if (client == nullptr) return fmt::format("session {}", session);
  std::string name = client->label.empty() ? fmt::format("process {}", client->pid) : printable(client->label);
  if (!client->label.empty()) name += fmt::format(", process {}", client->pid);
  return fmt::format("{} on {}{}", name, printable(client->host), client->connected ? "" : " (connection lost)");
}

// The requests of one server with the clients that they are of.
class View {
 public:
  explicit View(const lock::Overview& overview) : overview_(overview) {
    for (const auto& client : overview.clients) clients_.emplace(client.session, &client);
  }

  std::string client(uint64_t session) const {
    const auto found = clients_.find(session);
    return client_name(found == clients_.end() ? nullptr : found->second, session);
  }

  Table table() const {
    Table table({{"FILE"},
                 {"LOCK", Align::right},
                 {"MODE"},
                 {"STATE"},
                 {"BYTES"},
                 {"PIECES", Align::right},
                 {"SINCE", Align::right},
                 {"CLIENT"}});
    for (const auto& one : overview_.requests)
      table.add({printable(one.file), std::to_string(one.ticket),
                 one.access == lock::Access::exclusive ? "exclusive" : "shared",
                 one.granted ? "held" : fmt::format("waits for {}", one.waits_for),
                 fmt::format("{}-{}", one.bounds.first, one.bounds.end), std::to_string(one.segments),
                 format_duration(static_cast<double>(one.age_ms) / 1000), client(one.session)});
    return table;
  }

  Json json() const {
    Json clients = Json::array(), requests = Json::array(), counters = Json::object();
    for (const auto& one : overview_.clients)
      clients.push_back({{"session", one.session},
                         {"label", json_text_or_null(one.label)},
                         {"host", json_text(one.host)},
                         {"pid", one.pid},
                         {"peer", json_text(one.peer)},
                         {"connected", one.connected},
                         {"silent_seconds", static_cast<double>(one.silent_ms) / 1000}});
    for (const auto& one : overview_.requests)
      requests.push_back({{"path", json_text(one.file)},
                          {"lock", one.ticket},
                          {"session", one.session},
                          {"access", one.access == lock::Access::exclusive ? "exclusive" : "shared"},
                          {"held", one.granted},
                          {"waits_for", one.waits_for == 0 ? Json() : Json(one.waits_for)},
                          {"first_byte", one.bounds.first},
                          {"end_byte", one.bounds.end},
                          {"piece_count", one.segments},
                          {"age_seconds", static_cast<double>(one.age_ms) / 1000}});
    for (const auto& one : overview_.counters) counters[printable(one.name)] = one.value;
    return {{"clients", clients}, {"locks", requests}, {"counters", counters}, {"truncated", overview_.truncated}};
  }

 private:
  const lock::Overview& overview_;
  std::map<uint64_t, const lock::wire::StatusClient*> clients_;
};

class Locks final : public Verb {
 public:
  const VerbText& text() const override { return kLocksText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    syntax.option("--secret", "FILE", "The secret of the server. Default: $FOREBAY_LOCK_SECRET.", set_text(secret_));
    syntax.flag("--munge", credentials_.munge, "Let MUNGE vouch for this user.");
    syntax.flag("-w,--watch", watch_, "Show it anew every second, until the server ends.");
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(auto inspectors, connect());
    for (;;) {
      FOREBAY_TRY(const auto overviews, ask(inspectors));
      if (watch_ && !console.json && ::isatty(STDOUT_FILENO)) fmt::print("\033[H\033[2J");
      console.json ? print_as_json(overviews) : print(overviews);
      std::fflush(stdout);
      if (!watch_ || std::ferror(stdout)) return ExitCode::ok;
      std::this_thread::sleep_for(kLocksPeriod);
    }
  }

 private:
  Result<std::vector<lock::Inspector>> connect() {
    if (operands_.size() > 1) return fail(ErrorKind::invalid_argument, "more than one server is given");
    const std::string text = operands_.empty() ? of_environment("FOREBAY_LOCK_SERVERS") : operands_[0];
    if (text.empty())
      return fail(ErrorKind::invalid_argument, "no server is given", {}, {},
                  "give its address, or set FOREBAY_LOCK_SERVERS");
    FOREBAY_TRY(const auto servers, lock::parse_servers(text));
    if (secret_.empty()) secret_ = of_environment("FOREBAY_LOCK_SECRET");
    if (!secret_.empty()) {
      FOREBAY_TRY(credentials_.secret, fabric::read_secret(secret_));
    }
    std::vector<lock::Inspector> inspectors;
    for (const auto& server : servers) {
      FOREBAY_TRY(auto inspector, lock::Inspector::connect(server, credentials_));
      inspectors.push_back(std::move(inspector));
    }
    return inspectors;
  }

  static Result<std::vector<lock::Overview>> ask(std::vector<lock::Inspector>& inspectors) {
    std::vector<lock::Overview> overviews;
    for (lock::Inspector& inspector : inspectors) {
      FOREBAY_TRY(auto overview, inspector.ask());
      overviews.push_back(std::move(overview));
    }
    return overviews;
  }

  static void print_as_json(const std::vector<lock::Overview>& overviews) {
    Json servers = Json::array();
    for (const lock::Overview& overview : overviews) servers.push_back(View(overview).json());
    print_json({{"servers", servers}});
  }

  static void print(const std::vector<lock::Overview>& overviews) {
    size_t held = 0, waiting = 0, clients = 0;
    for (const lock::Overview& overview : overviews) {
      const auto granted = std::ranges::count(overview.requests, true, &lock::wire::StatusRequest::granted);
      held += static_cast<size_t>(granted);
      waiting += overview.requests.size() - static_cast<size_t>(granted);
      clients += overview.clients.size();
      if (overview.requests.empty()) continue;
      View(overview).table().for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
    }
    // This command is a client, too.
    fmt::print("{} held, {} waiting, {}\n", plural(held, "lock"), waiting,
               plural(clients - overviews.size(), "client"));
    if (std::ranges::any_of(overviews, &lock::Overview::truncated)) fmt::print("there are more than these\n");
  }

  std::vector<std::string> operands_;
  std::string secret_;
  fabric::Credentials credentials_;
  bool watch_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_locks() { return std::make_unique<Locks>(); }

}  // namespace forebay::cli
