// The part of an agent that brings its ranks together for a restart.
#include <cerrno>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "job/agent/agent_core.h"
#include "store/names.h"

namespace forebay::job {
namespace {

using Clock = std::chrono::steady_clock;
using fabric::Severity;

int64_t wall_ns() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

// Whether anything was delivered of it, which is published now: a node whose ranks have no files gets none.
// `place`: where the set of that name lay on a cache level, if it did.
Result<bool> publish_what_came(const std::string& stage, const wire::RestartReadyT& ready,
                               const std::optional<std::string>& place) {
  const bool has_come = ::access(delivered_path(stage, ready.stored_as).c_str(), F_OK) == 0 || errno != ENOENT;
  if (has_come) FOREBAY_CHECK(note_seen(stage, ready.set));
  if (has_come) FOREBAY_CHECK(publish_delivered(stage, ready.stored_as, ready.set));
  if (place) FOREBAY_CHECK(release_place(*place));
  return has_come;
}

}  // namespace

bool AgentCore::settle_restart(ConnectionId id) {
  auto answer = restart_.take_answer(*clients_.find(id));
  if (answer) send(id, *std::move(answer));
  return answer.has_value();
}

void AgentCore::send_restart_request() {
  if (!coordinator_ || !coordinator_->is_welcome) return restart_.cannot_request();
  if (auto request = restart_.request()) send(coordinator_->id, *std::move(request));
}

void AgentCore::restart_refused(const wire::RefusedT& refused) {
  log(Severity::warning, "a restart is refused: " + refused.message);
  clients_.settle_each([&](ConnectionId id, const Question& question) {
    if (question.kind != Question::Kind::restart || !restart_.is_refused(*clients_.find(id), refused)) return false;
    send(id, refused);
    return true;
  });
  restart_.refused(refused);
}

// All ranks of the job have asked: whatever they had begun is over. What was delivered takes the place of what the
// stage has under that name.
Result<void> AgentCore::restart_ready(const wire::RestartReadyT& ready) {
  FOREBAY_TRY(const auto step, restart_.ready(ready, coordinator_->generation));
  if (step == RankRestart::Step::too_late) {
    if (ready.found)
      published(coordinator_->id, ready, fail(ErrorKind::cancelled, "the application was started again meanwhile"));
    return {};
  }
  forget_unfinished();
  if (ready.found) {
    publish(ready);
    return {};
  }
  log(Severity::info, "nothing to restart from: " + ready.message);
  restart_.nothing_found(Clock::now());
  settle_all();
  return {};
}

void AgentCore::forget_unfinished() {
  for (const std::string& set : sets_.unfinished()) {
    log(Severity::info, fmt::format("{}: its ranks start again, what there is of it is void", set));
    discard(set);
    (void)discard_notes(stage_, set);
    sets_.forget(set);
  }
  tidy();
}

void AgentCore::publish(const wire::RestartReadyT& ready) {
  if (!store::is_job_name(ready.set))
    return published(coordinator_->id, ready,
                     fail(ErrorKind::unsupported, fmt::format("'{}' cannot be the name of a set in a stage", ready.set),
                          {}, {}, "restore it from the store by hand, or remove it there"));
  if (const auto free = check_free(ready.set); !free)
    return published(coordinator_->id, ready, std::unexpected(free.error()));
  if (const auto* entry = sets_.find(ready.set); entry != nullptr && entry->is_offered())
    withdraw(ready.set, entry->exposure, "the ranks restart from another set of this name");
  watcher_.forget(ready.set);
  cache_.discard(ready.set);
  const auto place = place_of(stage_, ready.set);
  (void)discard_notes(stage_, ready.set);
  sets_.forget(ready.set);
  looks_.begin_work(ready.set);
  restart_.begin_publishing();
  worker_.add([this, ready, place] { return publish_what_came(stage_, ready, place); },
              [this, ready, coordinator = coordinator_->id](const Result<bool>& result) {
                looks_.end_work(ready.set);
                published(coordinator, ready, result);
                restart_.end_publishing(Clock::now());
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
    outcome.ordinal = ready.ordinal;
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
  if (!coordinator_ || coordinator_->id != coordinator) return;
  if (!report.failed) restart_.placed(report.round);
  send(coordinator, std::move(report));
}

void AgentCore::restart_done(const wire::RestartDoneT& done) {
  const auto answer = restart_.done(done, Clock::now());
  if (!answer) return;
  log(Severity::info, fmt::format("{}: restored", answer->set));
  settle_all();
}

}  // namespace forebay::job
