#include "cli/control.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/text.h"
#include "cli/units.h"
#include "job/rendezvous/rendezvous.h"
#include "job/wire/messages.h"

namespace forebay::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace wire = job::wire;

constexpr auto kSilence = 10s;   // with a coordinator that says nothing
constexpr auto kPause = 200ms;   // between questions
constexpr auto kElection = 30s;  // until another coordinator is there

// Not what a connection that has ended leaves behind: another coordinator may answer soon.
bool is_worth_another_try(ErrorKind kind) {
  return kind == ErrorKind::not_found || kind == ErrorKind::disconnected || kind == ErrorKind::timeout ||
         kind == ErrorKind::io;
}

Result<Json> parse_status(const std::string& text) {
  Json document = Json::parse(text, nullptr, false);
  if (!document.is_object()) return fail(ErrorKind::corrupt, "the coordinator's status makes no sense");
  return document;
}

// The sets in flight, for a message.
std::string not_drained(const Json& status) {
  std::string names;
  const auto sets = status.is_object() ? status.find("sets") : status.end();
  if (!status.is_object() || sets == status.end() || !sets->is_array()) return names;
  for (const Json& set : *sets)
    if (set.is_object())
      names += fmt::format("{}{} ({})", names.empty() ? ": " : ", ", set.value("name", ""), set.value("state", ""));
  return names;
}

}  // namespace

void declare_job(Syntax& syntax, JobName& name) {
  syntax.option("--rendezvous", "DIR", "The job's rendezvous directory. Default: $FOREBAY_RENDEZVOUS.",
                set_text(name.rendezvous));
  declare_store(syntax, name.store);
  syntax.option("--job", "ID",
                "Of the jobs that 'forebay run' started with the store: this one. Default: the only one that runs.",
                set_text(name.job));
  syntax.flag("--munge", name.munge, "Let MUNGE vouch for the user, instead of the job's secret.");
}

std::string jobs_directory(const std::string& store) { return store + "/jobs"; }

Result<std::string> find_job(const JobName& name) {
  if (!name.rendezvous.empty()) return name.rendezvous;
  if (name.job.empty() && name.store.empty())
    if (auto given = of_environment("FOREBAY_RENDEZVOUS"); !given.empty()) return given;
  const std::string store = name.store.empty() ? store_of_environment() : name.store;
  if (store.empty())
    return fail(ErrorKind::invalid_argument, "no job is given", {}, {}, "use --rendezvous DIR, or --store STORE");
  job::clean_jobs(jobs_directory(store));
  FOREBAY_TRY(const auto jobs, job::list_jobs(jobs_directory(store)));
  return choose_job(jobs, name.job, store);
}

static std::string history_hint(const std::string& store, std::string_view of_what) {
  return fmt::format("'forebay status --history --store {}' shows what became of {}", shell_word(store), of_what);
}

// "4711 on n1", and what is to be known of it.
static std::string told(const job::JobEntry& job) {
  std::string text = printable(job.id);
  if (job.lease) text += " on " + printable(job.lease->holder.host);
  if (job.state == job::JobState::silent)
    text += fmt::format(" (silent for {})", format_duration(static_cast<double>(job.lease->silence.count())));
  if (job.state == job::JobState::unknown) text += " (perhaps: it has no lease)";
  return text;
}

static Result<std::string> choose_named(const std::vector<job::JobEntry>& jobs, const std::string& id,
                                        const std::string& store) {
  const auto found = std::ranges::find(jobs, id, &job::JobEntry::id);
  if (found == jobs.end())
    return fail(ErrorKind::not_found, fmt::format("there is no job '{}'", id), jobs_directory(store), {},
                fmt::format("'forebay status --history --store {}' lists them", shell_word(store)));
  if (found->state == job::JobState::ended || found->state == job::JobState::died)
    return fail(ErrorKind::not_found, fmt::format("job '{}' does not run any more", id), found->path, {},
                history_hint(store, "it"));
  return found->path;
}

Result<std::string> choose_job(const std::vector<job::JobEntry>& jobs, const std::string& id,
                               const std::string& store) {
  if (!id.empty()) return choose_named(jobs, id, store);
  using job::JobState;
  std::vector<const job::JobEntry*> running, perhaps;
  for (const job::JobEntry& job : jobs) {
    if (job.state == JobState::running) running.push_back(&job);
    if (job.state == JobState::silent || job.state == JobState::unknown) perhaps.push_back(&job);
  }
  const auto& candidates = running.empty() ? perhaps : running;
  if (candidates.size() == 1) return candidates[0]->path;
  if (candidates.empty())
    return fail(ErrorKind::not_found, "no job of 'forebay run' runs", jobs_directory(store), {},
                jobs.empty() ? "" : history_hint(store, "the last one"));
  std::string names;
  for (const job::JobEntry* one : candidates) names += fmt::format("{}{}", names.empty() ? "" : ", ", told(*one));
  return fail(ErrorKind::not_found, fmt::format("{} jobs run: {}", candidates.size(), names), jobs_directory(store), {},
              "choose one with --job ID");
}

Result<Control> Control::reach(const std::string& path, bool munge, Time until, const std::stop_token& stop) {
  FOREBAY_TRY(const auto rendezvous, job::Rendezvous::open_existing(path));
  FOREBAY_TRY(const auto credentials, rendezvous.credentials(munge));
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    const auto patience = std::clamp<std::chrono::milliseconds>(left, 100ms, kSilence);
    auto reached = job::reach_coordinator(rendezvous, credentials, patience);
    if (reached) return Control(std::move(reached->link));
    if (Clock::now() + kPause >= until || stop.stop_requested() || !is_worth_another_try(reached.error().kind))
      return std::unexpected(std::move(reached).error());
    std::this_thread::sleep_for(kPause);
  }
}

Result<Json> Control::status() {
  Bytes request;
  wire::encode(request, wire::StatusRequestT{});
  return ask_for_status(request);
}

Result<Json> Control::exclude(const std::string& node) {
  Bytes request;
  wire::encode(request, wire::ExcludeT{.host = node});
  return ask_for_status(request);
}

Result<Json> Control::reject(const std::string& set, const std::string& stored_as, const std::string& reason) {
  Bytes request;
  wire::encode(request, wire::RejectT{.set = set, .stored_as = stored_as, .reason = reason});
  return ask_for_status(request);
}

Result<Json> Control::ask_for_status(const Bytes& request) {
  FOREBAY_CHECK(link_.send(request, kSilence));
  for (;;) {
    FOREBAY_TRY(const auto frame, link_.receive(wire::kMaxBody, kSilence));
    FOREBAY_TRY(auto message, wire::decode(frame));
    if (message.body.type == wire::Body::Status) return parse_status(message.body.AsStatus()->json);
    if (message.body.type != wire::Body::Ping) return fail(ErrorKind::disconnected, "the job is ending", link_.peer());
  }
}

Result<Json> Control::settle(Time until) {
  Bytes request;
  wire::encode(request, wire::SettleRequestT{});
  FOREBAY_CHECK(link_.send(request, kSilence));
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left <= 0ms) return fail(ErrorKind::timeout, "the agents take long to look at their stages", link_.peer());
    FOREBAY_TRY(const auto frame, link_.receive(wire::kMaxBody, std::min<std::chrono::milliseconds>(left, kSilence)));
    FOREBAY_TRY(auto message, wire::decode(frame));
    if (message.body.type == wire::Body::Status) return parse_status(message.body.AsStatus()->json);
    if (message.body.type != wire::Body::Ping) return fail(ErrorKind::disconnected, "the job is ending", link_.peer());
  }
}

// Once more where the coordinator is lost meanwhile: the next one was not asked.
Result<void> Control::stop(const std::string& rendezvous, bool munge, End end, Time until, Json& last,
                           const std::stop_token& stop) {
  for (;;) {
    FOREBAY_TRY(auto control, reach(rendezvous, munge, std::min(until, Clock::now() + kElection), stop));
    auto done = control.stop(end, until, last);
    if (done || Clock::now() >= until || stop.stop_requested() || !is_worth_another_try(done.error().kind)) return done;
  }
}

Result<void> Control::stop(End end, Time until, Json& last) {
  if (auto now = status()) last = std::move(*now);
  Bytes request;
  wire::StopRequestT stop;
  stop.drain = end.drain;
  stop.settle = end.settle;
  wire::encode(request, stop);
  FOREBAY_CHECK(link_.send(request, kSilence));
  return wait_for_stop(until, last);
}

// All have been told, and end, the coordinator last: who starts the next daemons must not take one of these for them.
// One that takes too long is left alone.
Result<void> Control::wait_for_end(Time until) {
  for (Time now = Clock::now(); now < until; now = Clock::now()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    const auto frame = link_.receive(wire::kMaxBody, left);
    if (!frame) return {};
  }
  return {};
}

// Asks again and again, so that the last answer tells what has become of everything.
Result<void> Control::wait_for_stop(Time until, Json& last) {
  Bytes request;
  wire::encode(request, wire::StatusRequestT{});
  Time next = Clock::now(), heard = next;
  for (;;) {
    const Time now = Clock::now();
    if (now - heard >= kSilence)
      return fail(ErrorKind::disconnected, "the coordinator has sent nothing for 10 s", link_.peer());
    if (now >= until) return fail(ErrorKind::timeout, "the time for the drain is over; it goes on" + not_drained(last));
    // A coordinator that has closed the connection may have sent its last status, and its end, before.
    if (now >= next) next = link_.send(request, kSilence) ? now + kPause : Time::max();
    FOREBAY_TRY(const bool readable, link_.wait(std::min(next, until)));
    if (!readable) continue;
    heard = Clock::now();
    FOREBAY_TRY(const auto frame, link_.receive(wire::kMaxBody, kSilence));
    FOREBAY_TRY(auto message, wire::decode(frame));
    if (message.body.type == wire::Body::Stop) return wait_for_end(std::min(until, now + kSilence));
    if (message.body.type != wire::Body::Status) continue;
    FOREBAY_TRY(last, parse_status(message.body.AsStatus()->json));
  }
}

}  // namespace forebay::cli
