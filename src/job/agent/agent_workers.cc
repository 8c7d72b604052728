// The part of an agent that speaks with the coordinator and with workers.
#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "engine/pack/headers.h"
#include "engine/pack/source_pool.h"
#include "job/agent/agent_core.h"
#include "job/stage/counted_sources.h"

namespace forebay::job {
namespace {

using Clock = std::chrono::steady_clock;
using fabric::Severity;

constexpr std::string_view kDescription = ".forebay.toml";
constexpr uint32_t kShortestPing = 100, kLongestPing = 60'000;  // ms

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

// The files of those numbers, and the descriptions that apply to them (docs/raw-binary.md); each once.
Result<std::vector<engine::SourceFile>> chosen(const std::vector<engine::SourceFile>& files,
                                               const std::vector<uint32_t>& numbers) {
  std::unordered_map<std::string_view, uint32_t> descriptions;
  for (uint32_t i = 0; i < files.size(); ++i)
    if (files[i].row.name.ends_with(kDescription)) descriptions.emplace(files[i].row.name, i);
  std::vector<uint32_t> wanted = numbers;
  for (const uint32_t number : numbers) {
    if (number >= files.size()) return fail(ErrorKind::not_found, fmt::format("there is no file {}", number));
    if (descriptions.empty()) continue;
    const auto found = descriptions.find(fmt::format("{}{}", files[number].row.name, kDescription));
    if (found != descriptions.end()) wanted.push_back(found->second);
  }
  std::ranges::sort(wanted);
  const auto repeated = std::ranges::unique(wanted);
  wanted.erase(repeated.begin(), repeated.end());
  std::vector<engine::SourceFile> result;
  for (const uint32_t number : wanted) result.push_back(files[number]);
  return result;
}

Result<Bytes> layouts_of(const std::vector<engine::SourceFile>& files, const format::FormatOptions& format,
                         uint64_t memory_bytes, std::atomic<uint64_t>& moves) {
  engine::SourcePool pool(files);
  CountedSources counted(pool, [&] { ++moves; });
  FOREBAY_TRY(const auto headers, engine::read_headers(files, counted, format, memory_bytes, 1));
  return engine::encode_headers(headers);
}

}  // namespace

void AgentCore::adopt(Reached reached) {
  if (coordinator_) return;
  Coordinator coordinator;
  coordinator.generation = reached.generation;
  coordinator.heard = Clock::now();
  coordinator.id = hub_.adopt(std::move(reached.link));
  coordinator_ = coordinator;
  wire::AgentHelloT hello;
  hello.host = options_.host.empty() ? host_name() : options_.host;
  hello.node = node_;
  hello.stage = stage_;
  hello.failure_groups = options_.failure_groups;
  hello.pid = static_cast<uint64_t>(::getpid());
  // A path is of use on this node only, and others may have a socket of another agent there.
  const auto& addresses = hub_.addresses();
  const bool has_tcp =
      std::ranges::any_of(addresses, [](const auto& a) { return a.kind == fabric::Address::Kind::tcp; });
  for (const fabric::Address& address : addresses)
    if (!has_tcp || address.kind == fabric::Address::Kind::tcp)
      hello.addresses += (hello.addresses.empty() ? "" : ",") + fabric::to_string(address);
  send(coordinator_->id, std::move(hello));
}

void AgentCore::lose_coordinator() {
  log(Severity::warning, "the coordinator is lost");
  coordinator_.reset();
  resting_.forget();
  restart_.interrupted();
  find_coordinator_();
}

Result<void> AgentCore::hear_coordinator(wire::MessageT message) {
  coordinator_->heard = Clock::now();
  if (const auto* welcome = message.body.AsWelcome()) {
    if (welcome->generation != coordinator_->generation)
      return fail(ErrorKind::changed, fmt::format("the coordinator is of generation {}, not {}", welcome->generation,
                                                  coordinator_->generation));
    coordinator_->ping = std::chrono::milliseconds(std::clamp(welcome->ping_ms, kShortestPing, kLongestPing));
    coordinator_->lost = std::max(std::chrono::milliseconds(welcome->lost_ms), 2 * coordinator_->ping);
    coordinator_->is_welcome = true;
    ping_at_ = Time::min();
    block_at_ = welcome->block_at;
    log(Severity::info, fmt::format("follows the coordinator of generation {}", welcome->generation));
    offer_everything();
    send_rejects();
    send_restart_request();
    settle_all();
  } else if (const auto* news = message.body.AsSetNews()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const uint64_t exposure = news->exposure;
    const std::string set = news->set;
    if (!sets_.heard(*news, std::chrono::nanoseconds(now).count())) return {};
    const bool stays = sets_.find(set)->is_offered();
    if (!stays) unexpose(exposure);
    finish(set);
    if (stays) offer_again(exposure);
  } else if (const auto* placed = message.body.AsPlaced()) {
    keep_place(*placed);
  } else if (const auto* confirmed = message.body.AsReject()) {
    rejected(*confirmed);
  } else if (auto* ready = message.body.AsRestartReady()) {
    return restart_ready(*ready);
  } else if (const auto* done = message.body.AsRestartDone()) {
    restart_done(*done);
  } else if (const auto* refused = message.body.AsRefused()) {
    restart_refused(*refused);
  } else if (const auto* rest = message.body.AsSettle()) {
    settle(rest->number);
  } else if (const auto* stop = message.body.AsStop()) {
    log(Severity::info, stop->message.empty() ? "the job is over" : stop->message);
    end_run(stage_);
    hub_.stop();
  } else if (const auto* in_place = message.body.AsRestartInPlace()) {
    return restart_in_place(*in_place);
  } else if (const auto* ping = message.body.AsPing()) {
    coordinator_->ranks = ping->ranks;
  } else if (!hear_about_caches(message)) {
    return fail(ErrorKind::corrupt, "a message that coordinators do not send to agents");
  }
  return {};
}

// Those whose place in the series is known come first: what becomes complete next comes behind them. The others come in
// the order in which they were offered first.
void AgentCore::offer_everything() {
  std::vector<std::tuple<uint64_t, uint64_t, uint64_t>> exposures;  // place, number, exposure
  for (const auto& [exposure, exposed] : exposed_) {
    const auto* const entry = sets_.find(exposed->offer.set);
    const uint64_t ordinal = entry != nullptr ? entry->ordinal : 0;
    exposures.emplace_back(ordinal != 0 ? ordinal : UINT64_MAX, exposed->number, exposure);
  }
  std::ranges::sort(exposures);
  for (const auto& [ordinal, number, exposure] : exposures) offer_again(exposure);
}

// The set is complete, and has a place in its series, which the next coordinator is to know.
void AgentCore::keep_place(const wire::PlacedT& placed) {
  if (!sets_.placed(placed)) return;
  if (auto noted = note_place(stage_, placed.set, {placed.ordinal, sets_.find(placed.set)->fingerprint}); !noted)
    warn_once(placed.set, "its place in the series cannot be written down: " + noted.error().message());
}

// From a worker, or somebody who has not said yet who it is.
Result<void> AgentCore::hear_other(ConnectionId id, wire::MessageT message) {
  if (DeliveryServer::handles(message.body.type)) {
    delivering_.insert(id);
    return deliveries_.received(id, std::move(message));
  }
  if (Cache::handles(message.body.type)) return cache_.received(id, message);
  if (const auto* hello = message.body.AsClientHello()) return greet(id, *hello);
  if (const auto* request = message.body.AsLayoutRequest()) {
    if (!reading_.insert(id).second)
      return fail(ErrorKind::limit, "a second request for layouts before the first is answered");
    serve_layouts(id, *request);
    return {};
  }
  if (message.body.type == wire::Body::Ping) return {};
  return fail(ErrorKind::corrupt, "a message that agents do not take");
}

void AgentCore::serve_layouts(ConnectionId id, const wire::LayoutRequestT& request) {
  const auto found = exposed_.find(request.exposure);
  auto files = found != exposed_.end() ? chosen(found->second->files, request.files)
                                       : fail(ErrorKind::not_found, "the files are not offered any more");
  if (!files) {
    reading_.erase(id);
    return refuse(id, files.error());
  }
  worker_.add([this, files = std::move(
                         *files)] { return layouts_of(files, options_.format, options_.header_memory_bytes, moves_); },
              [this, id](const Result<Bytes>& layouts) {
                if (reading_.erase(id) == 0) return;  // it has gone
                if (!layouts) return refuse(id, layouts.error());
                wire::LayoutsT answer;
                const auto* bytes = reinterpret_cast<const uint8_t*>(layouts->data());
                answer.headers.assign(bytes, bytes + layouts->size());
                send(id, std::move(answer));
              });
}

// Says that this process is alive to whoever waits for more than that, and looks whether the coordinator is.
void AgentCore::keep_in_touch(Time now) {
  for (const ConnectionId id : reading_) {
    wire::PingT ping;
    ping.moves = moves_;
    send(id, std::move(ping));
  }
  for (const auto& [id, question] : clients_.questions()) send(id, wire::PingT());
  if (!delivering_.empty()) deliveries_.ping();
  cache_.ping();
  if (strangers_) strangers_->renew();
  if (!coordinator_) return;
  if (now - coordinator_->heard > coordinator_->lost) {
    log(Severity::warning, "the coordinator says nothing");
    hub_.close(coordinator_->id);  // disconnected() follows
    return;
  }
  wire::PingT ping;
  ping.ranks = static_cast<uint32_t>(clients_.count());
  if (rank_processes_) {
    const RankProcesses::Usage usage = rank_processes_->usage();
    ping.processes = usage.processes;
    ping.processor_ms = static_cast<uint64_t>(usage.processor_time.count());
  }
  ping.begun = begun_in_code();
  send(coordinator_->id, std::move(ping));
}

}  // namespace forebay::job
