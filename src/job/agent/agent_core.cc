#include "job/agent/agent_core.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job/client/stage_names.h"
#include "job/stage/begun_sets.h"
#include "job/wire/convert.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

// Changes are taken together: a rank that closes a thousand files wakes the agent ten times a second.
constexpr auto kBetweenChanges = 100ms;
constexpr auto kBlindLook = 5s;
constexpr auto kPing = 2s;

}  // namespace

AgentCore::AgentCore(const AgentOptions& options, std::string node, fabric::Hub& hub, Watcher watcher,
                     std::function<void()> find_coordinator)
    : options_(options),
      stage_(options.stage),
      node_(std::move(node)),
      hub_(hub),
      watcher_(std::move(watcher)),
      find_coordinator_(std::move(find_coordinator)),
      transports_(exposures_, hub, options.ucx),
      deliveries_(options.stage, hub),
      cache_(
          {.stage = options.stage,
           .access = {.credentials = options.credentials, .patience = options.connect_patience * 2, .ucx = options.ucx},
           .log = options.log},
          hub, exposures_),
      rank_processes_(options.watches_ranks ? std::make_unique<RankProcesses>(options.rendezvous) : nullptr),
      linger_(options.linger, std::chrono::steady_clock::now()),
      worker_([&hub](std::function<void()> what) { hub.post(std::move(what)); }) {}

Result<void> AgentCore::begin(std::optional<Strangers> strangers) {
  strangers_ = std::move(strangers);
  FOREBAY_CHECK(discard_delivered(stage_));
  take_levels();
  FOREBAY_CHECK(cache_.begin());
  if (strangers_ && strangers_->are_new()) forget_begun_sets(stage_);
  FOREBAY_CHECK(take_stage_as_it_is());
  FOREBAY_TRY(const auto aside, quarantined_sets(stage_));
  for (const Quarantined& set : aside)
    log(fabric::Severity::warning,
        fmt::format("{}: was set aside, and is never restarted from: {}", set.set, set.reason));
  tidy();
  look_at_all();
  watch_stage();
  find_coordinator_();
  return {};
}

void AgentCore::log(fabric::Severity severity, const std::string& text) const {
  if (options_.log) options_.log(severity, text);
}

// What is true of a set again and again is said once.
void AgentCore::warn_once(const std::string& set, const std::string& text) {
  if (looks_.is_news(set, text)) log(fabric::Severity::warning, fmt::format("{}: {}", set, text));
}

void AgentCore::refuse(ConnectionId to, const Error& error) { send(to, wire::refusal_of(error)); }

// From now on, after a while.
void AgentCore::watch_stage() {
  watch_again_ = Time::max();
  auto watched = hub_.watch(watcher_.fd(), [this] {
    hub_.forget(watcher_.fd());
    watch_again_ = std::chrono::steady_clock::now() + kBetweenChanges;
    see_changes();
  });
  if (watched) return;
  warn_once(stage_, watched.error().message());
  look_at_all_ = std::chrono::steady_clock::now() + kBlindLook;
}

void AgentCore::see_changes() {
  linger_.need(std::chrono::steady_clock::now());
  auto changes = watcher_.read();
  if (!changes) warn_once(stage_, changes.error().message());
  if (!changes || changes->all)
    look_at_all();
  else
    for (const std::string& set : changes->sets) look(set);
  if (watcher_.is_blind() && look_at_all_ == Time::max()) {
    warn_once(stage_, "the system has too few inotify watches: the stage is looked at every few seconds");
    look_at_all_ = std::chrono::steady_clock::now() + kBlindLook;
  }
}

void AgentCore::connected(ConnectionId, const std::string&) {}

void AgentCore::disconnected(ConnectionId id, Ending) {
  if (coordinator_ && coordinator_->id == id) return lose_coordinator();
  transports_.disconnected(id);
  deliveries_.disconnected(id);
  cache_.disconnected(id);
  reading_.erase(id);
  delivering_.erase(id);
  const auto client = clients_.left(id);
  if (!client) return;
  miss(*client);
  if (!clients_.is_connected(client->rank, client->pid))
    restart_.stop_asking(*client, std::chrono::steady_clock::now());
}

Result<void> AgentCore::received(ConnectionId id, const fabric::Frame& frame) {
  if (fabric::TransportServer::handles(frame.type)) return transports_.received(id, frame);
  if (DeliveryServer::handles(frame.type)) return deliveries_.received(id, frame);
  if (Cache::handles(frame.type)) return cache_.received(id, frame);
  FOREBAY_TRY(auto message, wire::decode(frame));
  if (coordinator_ && coordinator_->id == id) return hear_coordinator(std::move(message));
  if (const ConnectedRank* const client = clients_.find(id)) return answer(id, *client, std::move(message));
  return hear_other(id, std::move(message));
}

// Without a coordinator what is not drained has to wait for the next agent.
bool AgentCore::is_needed() const {
  return clients_.count() > 0 || !delivering_.empty() || cache_.is_busy() ||
         (coordinator_ && (coordinator_->ranks > 0 || sets_.has_work()));
}

void AgentCore::tick(Time now) {
  if (now >= watch_again_) watch_stage();
  if (now >= look_at_all_) {
    look_at_all_ = watcher_.is_blind() ? now + kBlindLook : Time::max();
    look_at_all();
  }
  for (const std::string& set : looks_.due(now)) look(set);
  watch_rule(now);
  if (now >= restart_.request_at()) send_restart_request();
  expire(now);
  if (now >= ping_at_) {
    keep_in_touch(now);
    ping_at_ = now + ping_interval();
  }
  const bool pings =
      coordinator_ || !reading_.empty() || !delivering_.empty() || !clients_.questions().empty() || cache_.is_busy();
  ping_at_ = pings ? std::min(ping_at_, now + ping_interval()) : Time::max();
  if (!linger_.is_over(is_needed(), now)) return;
  log(fabric::Severity::info, "nobody has needed this agent for a while: it ends");
  hub_.stop();
}

// What others wait for has its own; a coordinator may want it more often.
std::chrono::milliseconds AgentCore::ping_interval() const {
  return coordinator_ ? std::min<std::chrono::milliseconds>(kPing, coordinator_->ping) : kPing;
}

AgentCore::Time AgentCore::next_tick() const {
  const bool pings =
      coordinator_ || !reading_.empty() || !delivering_.empty() || !clients_.questions().empty() || cache_.is_busy();
  // Time::min(): tick() arms it.
  const Time ping_at = pings && ping_at_ == Time::max() ? Time::min() : ping_at_;
  return std::min({watch_again_, look_at_all_, restart_.request_at(), ping_at, looks_.next(), clients_.next_deadline(),
                   linger_.next(), rule_watch_.next()});
}

}  // namespace forebay::job
