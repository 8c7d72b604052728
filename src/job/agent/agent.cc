#include "job/agent/agent.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "job/agent/agent_core.h"
#include "job/client/stage_names.h"
#include "job/rendezvous/coordinator_finder.h"
#include "job/stage/stage_notes.h"
#include "job/stage/stage_series.h"
#include "job/stage/strangers.h"

namespace forebay::job {
namespace {

constexpr size_t kMaxRequest = 16 << 20;  // a request for the layouts of some million files
constexpr int kNiceness = 10;  // a tenth of what a process of the application gets, where all processors are busy

// Of this thread, and of those that it starts. What the system does not allow is left out.
void take_priority(Priority priority) {
  if (priority == Priority::normal) return;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
  const sched_param none{};
  if (priority == Priority::idle) ::sched_setscheduler(0, SCHED_IDLE, &none);
}

// The path without links in it: workers of this node compare and open it.
Result<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr), std::free);
  if (!resolved) return fail_errno(errno, "realpath", path);
  return std::string(resolved.get());
}

// The applications' key, for as long as the agent serves. Nobody ever reads a part of it.
class StageSecret {
 public:
  static Result<StageSecret> put(const std::string& stage, const fabric::Secret& secret) {
    StageSecret file(secret_path(stage));
    const std::string temporary = file.path_ + ".new";
    ::unlink(temporary.c_str());
    FOREBAY_CHECK(fabric::write_secret(temporary, secret));
    if (std::rename(temporary.c_str(), file.path_.c_str()) != 0) return fail_errno(errno, "rename", file.path_);
    return file;
  }
  StageSecret(StageSecret&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~StageSecret() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

 private:
  explicit StageSecret(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

fabric::HubOptions hub_options(const AgentOptions& options) {
  fabric::HubOptions hub;
  hub.listen.push_back({fabric::Address::Kind::unix_socket, "", 0, agent_socket(options.stage)});
  hub.ports = options.ports;
  hub.listen.insert(hub.listen.end(), options.listen.begin(), options.listen.end());
  hub.credentials = options.credentials;
  // MUNGE is for other nodes: ranks of this one can read the stage, or they are not let in.
  if (!hub.credentials.secret && hub.credentials.munge) hub.credentials.secret = fabric::new_secret();
  hub.purpose = wire::kPurpose;
  hub.max_body = kMaxRequest;
  hub.max_output = 2 * wire::kMaxBody;
  hub.log = options.log;
  return hub;
}

Result<void> serve(AgentOptions options, const std::stop_token& stop) {
  FOREBAY_CHECK(prepare_stage(options.stage));
  FOREBAY_TRY(options.stage, real_path(options.stage));
  FOREBAY_TRY(std::string node, fabric::node_identity());
  const fabric::HubOptions for_hub = hub_options(options);
  // Who listens is the one agent of this stage.
  FOREBAY_TRY(const auto hub, fabric::Hub::create(for_hub));
  std::optional<Strangers> strangers;
  if (options.found != Found::take) {
    FOREBAY_TRY(strangers, Strangers::find(options.stage, options.run));
  }
  if (!options.series.empty()) FOREBAY_CHECK(take_stage(options.stage, options.series));
  std::optional<StageSecret> secret;
  if (for_hub.credentials.secret) {
    FOREBAY_TRY(StageSecret put, StageSecret::put(options.stage, *for_hub.credentials.secret));
    secret.emplace(std::move(put));
  }
  FOREBAY_TRY(Watcher watcher, Watcher::create(options.stage, options.completion));

  std::optional<CoordinatorFinder> finder;
  AgentCore core(options, std::move(node), *hub, std::move(watcher), [&] { finder->look(); });
  const auto found = [&](Reached reached) {
    hub->post([&core, shared = std::make_shared<Reached>(std::move(reached))] { core.adopt(std::move(*shared)); });
  };
  const auto log = [&](const std::string& text) {
    if (options.log) options.log(fabric::Severity::info, text);
  };
  finder.emplace(
      CoordinatorFinder::Options{options.rendezvous, options.credentials, options.connect_patience, found, log});
  FOREBAY_CHECK(core.begin(std::move(strangers)));
  if (options.ready) options.ready(hub->addresses());
  if (options.tell && !core.left_alone().empty()) options.tell(core.left_alone());
  const std::stop_callback stopped(stop, [&] { hub->stop(); });
  return hub->run(core);
}

}  // namespace

Result<Priority> parse_priority(std::string_view text) {
  if (text == "normal") return Priority::normal;
  if (text == "nice") return Priority::nice;
  if (text == "idle") return Priority::idle;
  return fail(ErrorKind::invalid_argument, "'" + std::string(text) + "' is no priority", {}, {},
              "normal, nice or idle");
}

Result<void> run_agent(const AgentOptions& options, std::stop_token stop) {
  Result<void> result;
  std::thread([&] {
    take_priority(options.priority);
    result = serve(options, stop);
  }).join();
  return result;
}

}  // namespace forebay::job
