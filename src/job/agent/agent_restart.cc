// The part of an agent that brings its ranks together for a restart.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "job/agent/agent_core.h"
#include "store/names.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using fabric::Severity;

constexpr auto kGather = 20ms;  // ranks ask at about the same time: one request for all

bool has(const std::map<uint32_t, uint64_t>& askers, uint32_t rank, uint64_t process) {
  const auto found = askers.find(rank);
  return found != askers.end() && found->second == process;
}

int64_t wall_ns() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Whether anything was delivered of it, which is published now: a node whose ranks have no files gets none.
Result<bool> publish_what_came(const std::string& stage, const wire::RestartReadyT& ready) {
  if (::access(delivered_path(stage, ready.stored_as).c_str(), F_OK) != 0 && errno == ENOENT) return false;
  FOREBAY_CHECK(publish_delivered(stage, ready.stored_as, ready.set));
  return true;
}

}  // namespace

Result<void> AgentCore::ask_restart(const Client& client, bool any_ranks) {
  const auto kept = restart_.kept.find(client.rank);
  if (kept != restart_.kept.end() && kept->second.first == client.pid) return {};  // settle_restart() has the answer
  if (restart_.ending && has(restart_.ending->asked, client.rank, client.pid)) return {};  // hand_out() will have it
  if (client.attempt != 0 && client.attempt < restart_.attempt)
    return fail(ErrorKind::cancelled, "the application was started again meanwhile");
  if (client.attempt > restart_.attempt) {  // nothing is left of what the last one had asked for
    restart_.attempt = client.attempt;
    restart_.asked.clear();
    restart_.ending.reset();
  }
  restart_.asked[client.rank] = client.pid;
  restart_.total = client.ranks;
  if (any_ranks)
    restart_.strict.erase(client.rank);
  else
    restart_.strict.insert(client.rank);
  request_soon();
  return {};
}

// It has ended, or lost the connection, and asks again.
void AgentCore::stop_asking(const Client& client) {
  if (!has(restart_.asked, client.rank, client.pid) || ranks_.is_connected(client.rank, client.pid)) return;
  restart_.asked.erase(client.rank);
  request_soon();
}

bool AgentCore::settle_restart(ConnectionId id, const Question&) {
  const Client& client = clients_.at(id);
  const auto kept = restart_.kept.find(client.rank);
  if (kept == restart_.kept.end()) return false;
  const bool is_same = kept->second.first == client.pid;
  if (is_same) send(id, std::move(kept->second.second));
  restart_.kept.erase(kept);
  return is_same;
}

void AgentCore::request_soon() {
  if (!restart_.asked.empty() || restart_.has_requested) restart_.send_at = std::chrono::steady_clock::now() + kGather;
}

// Who has asked is in the round that ends, or asks for the next one when it has ended.
void AgentCore::send_restart_request() {
  restart_.send_at = Time::max();
  if (!coordinator_ || !coordinator_->is_welcome) return;
  if ((restart_.asked.empty() && !restart_.has_requested) || restart_.ending || restart_.is_publishing) return;
  wire::RestartRequestT request;
  for (const auto& [rank, pid] : restart_.asked) request.ranks.push_back(rank);
  request.total = restart_.total;
  request.any_ranks =
      std::ranges::none_of(request.ranks, [&](uint32_t rank) { return restart_.strict.contains(rank); });
  request.attempt = restart_.attempt;
  restart_.has_requested = !restart_.asked.empty();
  send(coordinator_->id, std::move(request));
}

// The coordinator cannot make sense of what the ranks want together, or the set cannot be had on all nodes; or a later
// start of the application asks, on this node, too, or on others.
void AgentCore::restart_refused(const wire::RefusedT& refused) {
  log(Severity::warning, "a restart is refused: " + refused.message);
  const bool is_of_all = refused.attempt == restart_.attempt;
  std::erase_if(questions_, [&](const auto& item) {
    const bool is_meant = is_of_all || clients_.at(item.first).attempt <= refused.attempt;
    if (item.second.kind != Question::Kind::restart || !is_meant) return false;
    send(item.first, refused);
    return true;
  });
  if (!is_of_all) return;
  restart_.asked.clear();
  restart_.ending.reset();
  restart_.has_requested = false;
}

// The coordinator is lost: the next one is asked again, also for what is published already.
void AgentCore::restart_interrupted() {
  restart_.has_requested = false;
  if (!restart_.ending) return;
  restart_.asked.merge(restart_.ending->asked);
  restart_.ending.reset();
}

void AgentCore::forget_askers_of_earlier_runs() {
  std::erase_if(restart_.asked, [&](const auto& item) { return !ranks_.is_connected(item.first, item.second); });
  request_soon();
  std::erase_if(restart_.kept, [&](const auto& item) { return !ranks_.is_connected(item.first, item.second.first); });
}

// All ranks of the job have asked: whatever they had begun is over. What was delivered takes the place of what the
// stage has under that name.
Result<void> AgentCore::restart_ready(wire::RestartReadyT ready) {
  if (restart_.is_publishing) return fail(ErrorKind::corrupt, "a restart before the last one was answered");
  if (ready.attempt < restart_.attempt) {  // its ranks are gone, and others have asked
    if (ready.found)
      published(coordinator_->id, ready, fail(ErrorKind::cancelled, "the application was started again meanwhile"));
    return {};
  }
  restart_.has_requested = false;
  for (const std::string& set : sets_.unfinished()) {
    log(Severity::info, fmt::format("{}: its ranks start again, what there is of it is void", set));
    discard(set);
    (void)discard_notes(stage_, set);
    sets_.forget(set);
  }
  tidy();
  if (!restart_.ending) restart_.ending.emplace().asked.swap(restart_.asked);
  restart_.ending->ready = std::move(ready);
  if (restart_.ending->ready.found) {
    publish(restart_.ending->ready);
    return {};
  }
  wire::RestartedT answer;
  answer.message = restart_.ending->ready.message;
  answer.other_ranks = restart_.ending->ready.other_ranks;
  log(Severity::info, "nothing to restart from: " + answer.message);
  hand_out(answer);
  return {};
}

void AgentCore::publish(const wire::RestartReadyT& ready) {
  if (!store::is_job_name(ready.set))
    return published(coordinator_->id, ready,
                     fail(ErrorKind::unsupported, fmt::format("'{}' cannot be the name of a set in a stage", ready.set),
                          {}, {}, "restore it from the store by hand, or remove it there"));
  if (const auto* entry = sets_.find(ready.set); entry != nullptr && entry->is_offered())
    withdraw(ready.set, entry->exposure, "the ranks restart from another set of this name");
  watcher_.forget(ready.set);
  (void)discard_notes(stage_, ready.set);
  sets_.forget(ready.set);
  busy_.insert(ready.set);
  restart_.is_publishing = true;
  chores_.add([this, ready] { return publish_what_came(stage_, ready); },
              [this, ready, coordinator = coordinator_->id](const Result<bool>& result) {
                busy_.erase(ready.set);
                restart_.is_publishing = false;
                published(coordinator, ready, result);
                request_soon();
                tell_settled();
              });
}

// What came from the store is not to be offered as something new.
void AgentCore::published(ConnectionId coordinator, const wire::RestartReadyT& ready, const Result<bool>& result) {
  if (result.value_or(false)) {
    const auto fingerprint = fingerprint_in_stage(ready.set);
    const int64_t now = wall_ns();
    Outcome outcome{
        .stored_as = ready.stored_as, .fingerprint = fingerprint.value_or(""), .ended_ns = now, .restored_ns = now};
    if (ready.step) outcome.step = *ready.step;
    sets_.ended(ready.set, outcome, true);
    (void)note_outcome(stage_, ready.set, outcome);
  }
  wire::RestartPublishedT report;
  report.round = ready.round;
  if (!result) {
    log(Severity::warning, fmt::format("{}: {}", ready.set, result.error().message()));
    report.failed = true;
    report.error = result.error().message();
  }
  // Another coordinator has not asked for it.
  if (coordinator_ && coordinator_->id == coordinator) send(coordinator, std::move(report));
}

void AgentCore::restart_done(const wire::RestartDoneT& done) {
  if (!restart_.ending || restart_.ending->ready.round != done.round) return;
  const wire::RestartReadyT& ready = restart_.ending->ready;
  wire::RestartedT answer;
  answer.found = true;
  answer.set = answer.directory = ready.set;
  answer.step = ready.step;
  answer.ranks = ready.ranks;
  answer.message = ready.message;
  log(Severity::info, fmt::format("{}: restored", answer.set));
  hand_out(answer);
}

void AgentCore::hand_out(const wire::RestartedT& answer) {
  for (const auto& [rank, pid] : restart_.ending->asked) restart_.kept[rank] = {pid, answer};
  restart_.ending.reset();
  settle_all();
  request_soon();
}

}  // namespace forebay::job
