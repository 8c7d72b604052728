// The part of an agent that brings its ranks together for a restart.
#include <utility>

#include <fmt/format.h>

#include "job/agent/agent_core.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using fabric::Severity;

constexpr auto kGather = 20ms;  // ranks ask at about the same time: one request for all

int64_t wall_ns() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace

void AgentCore::ask_restart(const Client& client) {
  const auto kept = restart_.kept.find(client.rank);
  if (kept != restart_.kept.end() && kept->second.first == client.pid) return;  // settle_restart() has the answer
  restart_.asked[client.rank] = client.pid;
  restart_.total = client.ranks;
  restart_.send_at = std::chrono::steady_clock::now() + kGather;
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

void AgentCore::send_restart_request() {
  restart_.send_at = Time::max();
  if (!coordinator_ || !coordinator_->is_welcome) return;
  if (restart_.asked.empty()) return;
  wire::RestartRequestT request;
  for (const auto& [rank, pid] : restart_.asked) request.ranks.push_back(rank);
  request.total = restart_.total;
  send(coordinator_->id, std::move(request));
}

// The coordinator cannot make sense of what the ranks want together.
void AgentCore::restart_refused(const wire::RefusedT& refused) {
  log(Severity::warning, "a restart is refused: " + refused.message);
  std::erase_if(questions_, [&](const auto& item) {
    if (item.second.kind != Question::Kind::restart) return false;
    send(item.first, refused);
    return true;
  });
  restart_.asked.clear();
}

void AgentCore::forget_askers_of_earlier_runs() {
  std::erase_if(restart_.asked, [&](const auto& item) { return !ranks_.is_connected(item.first, item.second); });
  std::erase_if(restart_.kept, [&](const auto& item) { return !ranks_.is_connected(item.first, item.second.first); });
}

// All ranks of the job have asked: whatever they had begun is over. What was delivered takes the place of what the
// stage has under that name.
void AgentCore::restart_ready(wire::RestartReadyT ready) {
  for (const std::string& set : sets_.unfinished()) {
    log(Severity::info, fmt::format("{}: its ranks start again, what there is of it is void", set));
    discard(set);
    (void)discard_notes(stage_, set);
    sets_.forget(set);
  }
  tidy();
  if (!ready.found || !is_set_name(ready.set)) {
    ready.found = false;
    return published(ready, {});
  }
  if (const auto* entry = sets_.find(ready.set); entry != nullptr && entry->is_offered())
    withdraw(ready.set, entry->exposure, "the ranks restart from another set of this name");
  watcher_.forget(ready.set);
  (void)discard_notes(stage_, ready.set);
  sets_.forget(ready.set);
  busy_.insert(ready.set);
  chores_.add([this, ready = std::move(ready)] {
    auto result = publish_delivered(stage_, ready.stored_as, ready.set);
    hub_.post([this, ready, result = std::move(result)] {
      busy_.erase(ready.set);
      published(ready, result);
    });
  });
}

// What came from the store is not to be offered as something new.
void AgentCore::published(const wire::RestartReadyT& ready, const Result<void>& result) {
  const bool has_files = ready.found && result.has_value();
  if (has_files) {
    const auto fingerprint = fingerprint_in_stage(ready.set);
    Outcome outcome{.stored_as = ready.stored_as, .fingerprint = fingerprint.value_or(""), .ended_ns = wall_ns()};
    if (ready.step) outcome.step = *ready.step;
    sets_.ended(ready.set, outcome, true, true);
    (void)note_outcome(stage_, ready.set, outcome);
  }
  wire::RestartedT answer;
  answer.found = ready.found;
  answer.set = ready.set;
  answer.directory = ready.set;
  answer.step = ready.step;
  answer.message = ready.message;
  // A node whose ranks have no files gets none.
  if (ready.found && !result && result.error().kind != ErrorKind::not_found) {
    log(Severity::warning, fmt::format("{}: {}", ready.set, result.error().message()));
    answer.found = false;
    answer.message = result.error().message();
  }
  hand_out(ready, answer);
}

void AgentCore::hand_out(const wire::RestartReadyT& ready, const wire::RestartedT& answer) {
  log(Severity::info,
      answer.found ? fmt::format("{}: restored", answer.set) : "nothing to restart from: " + answer.message);
  for (const auto& [rank, pid] : restart_.asked) restart_.kept[rank] = {pid, answer};
  restart_.asked.clear();
  settle_all();
}

}  // namespace forebay::job
