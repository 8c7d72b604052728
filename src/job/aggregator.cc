#include "job/aggregator.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "fabric/remote.h"
#include "job/coordinator/coordinator_host.h"
#include "job/decisions/decision_log.h"
#include "job/rendezvous/election.h"
#include "job/rendezvous/linger.h"
#include "job/rendezvous/rendezvous.h"
#include "job/worker/worker_session.h"
#include "store/files.h"

namespace forebay::job {
namespace {

using Time = std::chrono::steady_clock::time_point;
using Log = std::function<void(fabric::Severity, const std::string&)>;

constexpr size_t kMaxOutput = size_t{512} << 20;      // a task of very many files is large
constexpr std::chrono::milliseconds kFarewell{5000};  // for everybody to end, whom Stop has reached

std::string this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::vector<fabric::Address> default_addresses() {
  return {address_of_this_node(), {.kind = fabric::Address::Kind::tcp, .host = "*"}};
}

std::string joined(const std::vector<fabric::Address>& addresses) {
  std::string text;
  for (const fabric::Address& address : addresses) text += (text.empty() ? "" : ",") + fabric::to_string(address);
  return text;
}

CoordinatorOptions coordinator_options(const AggregatorOptions& options) {
  CoordinatorOptions with = options.coordinator;
  with.profile = options.worker.pack.profile.name();
  with.scheme = options.worker.pack.scheme.name();
  with.remembers = options.worker.pack.profile.remembers();
  with.lossy.clear();
  for (const engine::LossyRule& rule : options.worker.pack.lossy) with.lossy.push_back(rule.text);
  with.host = this_host();
  with.pid = static_cast<uint64_t>(::getpid());
  return with;
}

// What the hub's thread does: the worker's connection, and the coordinator while this aggregator is the one.
class Aggregator final : public fabric::HubHandler {
 public:
  Aggregator(fabric::Hub& hub, const AggregatorOptions& options, WorkerOptions worker, Log log)
      : hub_(hub),
        options_(coordinator_options(options)),
        store_(options.store),
        log_(std::move(log)),
        linger_(options.linger, std::chrono::steady_clock::now()),
        session_(hub, std::move(worker), options_.host, log_) {}

  void set_election(Election& election) { election_ = &election; }

  void elected(uint64_t generation, DecisionLog::Start start) {
    step_down();
    log_(fabric::Severity::info, fmt::format("this is coordinator {}", generation));
    CoordinatorOptions with = options_;
    with.resigned = resigned_;
    host_ = std::make_unique<CoordinatorHost>(hub_, with, store_, generation, std::move(start), log_);
    for (const Early& early : std::exchange(early_, {})) begin(early);
  }

  void superseded(uint64_t generation) {
    if (!host_) return;
    log_(fabric::Severity::warning, fmt::format("this coordinator steps down: there is coordinator {}", generation));
    step_down();
  }

  void reached(Reached reached) {
    const uint64_t generation = reached.generation;
    joining_ = true;
    const fabric::ConnectionId id = hub_.adopt(std::move(reached.link));
    joining_ = false;
    session_.began(id, generation);
  }

  bool job_is_over() const { return session_.stopped() || (host_ && host_->stopped()); }
  bool coordinates() const { return host_ != nullptr; }

  void connected(fabric::ConnectionId id, const std::string& peer) override {
    if (joining_) return;
    if (!host_) return keep_early(id, peer);
    clients_.push_back(id);
    host_->connected(id, peer);
  }

  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) override {
    if (session_.is_connection(id)) {
      const bool was_welcome = session_.is_welcome();
      const auto received = session_.received(frame);
      if (!was_welcome && session_.is_welcome()) election_->welcomed();
      return received;
    }
    if (host_) return host_->received(id, frame);
    const auto early = std::ranges::find(early_, id, &Early::id);
    if (early == early_.end()) return {};
    if (early->frames.size() < kMostEarlyFrames && frame.body.size() <= kMostEarlyBytes)
      early->frames.emplace_back(frame.type, Bytes(frame.body.begin(), frame.body.end()));
    else
      hub_.close(id);
    return {};
  }

  void disconnected(fabric::ConnectionId id, Ending) override {
    if (session_.is_connection(id)) {
      session_.ended();
      election_->look();
      return;
    }
    std::erase(clients_, id);
    std::erase_if(early_, [id](const Early& early) { return early.id == id; });
    if (host_) host_->disconnected(id);
  }

  void tick(Time now) override {
    session_.tick(now);
    while (!early_.empty() && now >= early_.front().until) {
      hub_.close(early_.front().id);
      early_.pop_front();
    }
    if (host_) host_->tick(now);
    if (host_ && host_->wants_to_step_down()) resign(*host_->wants_to_step_down());
    if (linger_.is_over(is_needed(), now)) {
      log_(fabric::Severity::info, "nobody has needed this aggregator for a while: it ends");
      hub_.stop();
    }
    if (!job_is_over()) return;
    // Who has stopped the job, and waits for this one's end, finds no daemon then that is ending still.
    if (!farewell_) farewell_ = now + kFarewell;
    if (is_left_alone() || now >= *farewell_) hub_.stop();
  }

  Time next_tick() const override {
    Time next = std::min(session_.next_tick(), linger_.next());
    if (host_) next = std::min(next, host_->next_tick());
    if (!early_.empty()) next = std::min(next, early_.front().until);
    if (!job_is_over()) return next;
    return farewell_ && !is_left_alone() ? std::min(next, *farewell_) : Time{};
  }

  void step_down() {
    if (!host_) return;
    // They may hang in the file system.
    auto threads = host_->release_threads();
    retired_stores_.emplace_back([store = std::move(threads.store)]() mutable { store.reset(); });
    retired_logs_.emplace_back([decisions = std::move(threads.decisions)]() mutable { decisions.reset(); });
    host_.reset();
    for (const fabric::ConnectionId id : std::exchange(clients_, {})) hub_.close(id);
  }
  void wait_for_logs() { retired_logs_.clear(); }

 private:
  // The election makes the place known before it is reported here that this one is the coordinator. Those who come
  // between wait for that; an aggregator that only stands by lets them go.
  struct Early {
    fabric::ConnectionId id;
    std::string peer;
    Time until;
    std::vector<std::pair<uint8_t, Bytes>> frames;  // types and bodies
  };
  static constexpr size_t kMostEarly = 256, kMostEarlyFrames = 4, kMostEarlyBytes = 64 << 10;

  void keep_early(fabric::ConnectionId id, const std::string& peer) {
    constexpr auto kPatience = std::chrono::seconds(2);
    if (early_.size() == kMostEarly) return hub_.close(id);
    early_.push_back({id, peer, std::chrono::steady_clock::now() + kPatience, {}});
  }

  void begin(const Early& early) {
    clients_.push_back(early.id);
    host_->connected(early.id, early.peer);
    for (const auto& [type, body] : early.frames)
      if (!host_->received(early.id, {type, body})) return hub_.close(early.id);
  }

  bool is_left_alone() const { return !host_ || host_->is_left_alone(); }
  bool is_needed() const { return host_ ? host_->is_needed() : session_.is_connected(); }

  // Where the store hangs for all, coordinators follow each other more and more slowly.
  void resign(const std::string& why) {
    log_(fabric::Severity::warning,
         fmt::format("this coordinator steps down, so that another aggregator takes its place: {}", why));
    ++resigned_;
    election_->resign();
    step_down();
  }

  fabric::Hub& hub_;
  const CoordinatorOptions options_;
  const std::string store_;
  const Log log_;
  Election* election_ = nullptr;
  uint32_t resigned_ = 0;  // how often
  bool joining_ = false;
  std::vector<fabric::ConnectionId> clients_;
  std::deque<Early> early_;
  std::optional<Time> farewell_;
  std::vector<std::jthread> retired_stores_, retired_logs_;
  std::unique_ptr<CoordinatorHost> host_;
  Linger linger_;
  WorkerSession session_;
};

}  // namespace

fabric::Address address_of_this_node() {
  return {.kind = fabric::Address::Kind::unix_socket,
          .path = fmt::format("@forebay-aggregator-{}-{}", ::getuid(), store::random_token())};
}

Result<void> run_aggregator(const AggregatorOptions& options, std::stop_token stop) {
  FOREBAY_TRY(const Rendezvous rendezvous, Rendezvous::open(options.rendezvous, options.encrypt));
  FOREBAY_TRY(const std::string run, rendezvous.run());
  FOREBAY_TRY(const std::string node, fabric::node_identity());
  std::mutex log_mutex;
  const Log log = [&](fabric::Severity severity, const std::string& text) {
    const std::scoped_lock lock(log_mutex);
    if (options.log) options.log(severity, text);
  };
  FOREBAY_TRY(fabric::Credentials credentials,
              rendezvous.credentials(options.munge, options.worker.fabric == FabricChoice::ucx));
  credentials.secret = rendezvous.secret();
  FOREBAY_TRY(const auto hub,
              fabric::Hub::create({.listen = options.listen.empty() ? default_addresses() : options.listen,
                                   .ports = options.ports,
                                   .credentials = credentials,
                                   .purpose = std::string(wire::kPurpose),
                                   .max_body = wire::kMaxBody,
                                   .max_output = kMaxOutput,
                                   .log = log}));
  const Place place{.addresses = joined(hub->addresses()),
                    .host = this_host(),
                    .node = node,
                    .pid = static_cast<uint64_t>(::getpid())};
  FOREBAY_CHECK(rendezvous.join(place));
  if (options.listening) options.listening(hub->addresses());

  WorkerOptions worker = options.worker;
  worker.store = options.store;
  worker.credentials = credentials;
  worker.node = node;
  Aggregator aggregator(*hub, options, std::move(worker), log);
  Election election(rendezvous,
                    {.credentials = credentials,
                     .place = place,
                     .patience = options.coordinator.peer_timeout / 2,
                     .idle = options.coordinator.stall_timeout},
                    {.elected = [&](uint64_t n) -> Result<void> {
                       FOREBAY_TRY(auto start, DecisionLog::open(rendezvous.path(), n, run));
                       auto held = std::make_shared<DecisionLog::Start>(std::move(start));
                       hub->post([&aggregator, n, held] { aggregator.elected(n, std::move(*held)); });
                       return {};
                     },
                     .superseded = [&](uint64_t n) { hub->post([&aggregator, n] { aggregator.superseded(n); }); },
                     .reached =
                         [&](Reached reached) {
                           auto held = std::make_shared<Reached>(std::move(reached));
                           hub->post([&aggregator, held] { aggregator.reached(std::move(*held)); });
                         },
                     .log = [&](const std::string& text) { log(fabric::Severity::warning, text); }});
  aggregator.set_election(election);
  election.look();
  const std::stop_callback end(stop, [&] { hub->stop(); });
  const auto result = hub->run(aggregator);
  // Before the connections end: `forebay stop` returns then, and others may use the rendezvous.
  if (options.ending) options.ending();
  rendezvous.leave(place);
  const bool ends_job = aggregator.coordinates() && aggregator.job_is_over();
  aggregator.step_down();
  aggregator.wait_for_logs();  // what is written to is not removed; a store that hangs keeps nobody waiting
  if (ends_job) rendezvous.remove();
  return result;
}

}  // namespace forebay::job
