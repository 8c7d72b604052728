#include "launch/run/run_job.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "launch/run/events.h"
#include "launch/run/guard.h"
#include "launch/run/phases.h"
#include "launch/run/processes.h"
#include "launch/run/run_loop.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

constexpr auto kTidyTime = 25s;     // for daemons to put things in order when they may end
constexpr auto kHurryTime = 5s;     // likewise, when the drain has failed: the file system may hang
constexpr auto kLeaveTime = 2s;     // likewise, when nothing is waited for
constexpr auto kOrphanTime = 3s;    // for what the application left behind to end when told to
constexpr auto kEndTime = 10s;      // for the rest after a drain, before the job's time is over
constexpr auto kOrphanLook = 50ms;  // between looks at orphans, whose deaths come one after another
constexpr auto kLookAgain = 500ms;  // for what a restart waits for
constexpr auto kTellTime = 30s;     // for a coordinator to know which nodes are lost

class Run {
 public:
  // `mark`: what tells the application's processes, in their environment.
  Run(const RunPlan& plan, const Say& say, Events events, const std::pair<std::string, std::string>& mark)
      : plan_(plan), say_(say), mark_(mark), loop_(plan, say, std::move(events)) {}

  Result<RunReport> run() {
    for (RunPhase phase = RunPhase::starting; phase != RunPhase::over;) {
      auto event = step(phase);
      if (!event) failure_ = std::move(event).error();
      phase = next_phase(run_transitions(), phase, event.value_or(RunEvent::failed));
    }
    if (failure_) return std::unexpected(*std::move(failure_));
    report_.ending = loop_.ending();
    report_.ended_because = loop_.end_because();
    report_.daemon_deaths = loop_.daemons().deaths();
    report_.told_to_end = loop_.told_to_end();
    report_.out_of_time = loop_.is_out_of_time();
    report_.left = loop_.left();
    return report_;
  }

 private:
  // What happens in that phase, to its end.
  Result<RunEvent> step(RunPhase phase) {
    switch (phase) {
      case RunPhase::starting:
        FOREBAY_CHECK(start_daemons());
        return unless_ending(RunEvent::ready);
      case RunPhase::restoring:
        return prepare_start();
      case RunPhase::running:
        return run_application();
      case RunPhase::judging:
        return judge();
      case RunPhase::replacing:
        return replace_nodes();
      case RunPhase::pausing:
        loop_.pump([this] { return ending(); }, Clock::now() + pause_);
        return RunEvent::ready;
      case RunPhase::draining:
        end_of_job_ = loop_.stop_deadline();
        drain();
        return RunEvent::drained;
      default:
        end_all();
        return RunEvent::gone;
    }
  }

  bool ending() const { return loop_.is_ending(); }

  // No start follows.
  RunEvent no_more() const { return report_.launches > 0 && !loop_.left() ? RunEvent::done : RunEvent::left; }
  RunEvent unless_ending(RunEvent event) const { return ending() ? no_more() : event; }

  Result<void> start_daemons() {
    FOREBAY_CHECK(loop_.daemons().start());
    return wait_for_daemons();
  }

  Result<void> wait_for_daemons() {
    const auto settled = [&] {
      const auto ready = loop_.daemons().ready();
      return !ready || *ready || ending();
    };
    const bool in_time = loop_.pump(settled, Clock::now() + plan_.start_timeout);
    FOREBAY_TRY(const bool ready, loop_.daemons().ready());
    if (!ready && !in_time && !ending())
      return fail(ErrorKind::timeout,
                  fmt::format("not ready after {} s: {}", plan_.start_timeout / 1s, loop_.daemons().not_ready()));
    return {};
  }

  Result<RunEvent> prepare_start() {
    before_ = look();
    FOREBAY_TRY(auto more, restore_on_nodes_that_are_left());
    if (ending() || !more) return no_more();
    resumed_ = *std::move(more);
    return RunEvent::ready;
  }

  Result<RunEvent> run_application() {
    FOREBAY_CHECK(launch(std::exchange(resumed_, {})));
    if (ending() && !loop_.application().runs()) return no_more();
    wait_for_application();
    // What a kill cut off must not seem to be left alone while processes that survived it take their time.
    const bool was_killed = !loop_.ending().good();
    if (was_killed) report_end(was_killed);
    end_orphans();
    if (!was_killed) report_end(was_killed);
    return RunEvent::ended;
  }

  // Whether it is to be started again, and which nodes are to blame.
  Result<RunEvent> judge() {
    if (!should_relaunch(loop_.ending(), !loop_.end_because().empty(), ending(), plan_.relaunches)) return no_more();
    if (used_ >= plan_.relaunches && loop_.nodes().spares_left() == 0) return no_more();
    if (const auto reason = plan_.hold ? plan_.hold() : std::nullopt) {
      say_(fmt::format("the application ended with {}; it is not started again: {}", loop_.ending().text(), *reason));
      return no_more();
    }
    attempt_ = attempt_between(before_, look(), !loop_.end_because_of_node());
    blame_ = blame_nodes(attempt_);
    if (!blame_.blames_nodes && used_++ >= plan_.relaunches) return no_more();
    attempt_.ended_by_itself = attempt_.ended_by_itself && !blame_.blames_nodes;
    return RunEvent::again;
  }

  Result<RunEvent> replace_nodes() {
    FOREBAY_TRY(const bool has_nodes, replace_lost_nodes(Clock::now()));
    if (!has_nodes || ending() || !retire(blame_.retire)) return no_more();
    const auto verdict = trials_.ended(attempt_);
    const auto seconds = verdict.pause / 1s;
    const std::string& why = loop_.end_because();
    say_(fmt::format("the application ended with {}{}; it is started again ({}){}", loop_.ending().text(),
                     why.empty() ? "" : ", as " + why,
                     blame_.blames_nodes ? "for the node's sake: no attempt is used up"
                                         : fmt::format("{} of {}", used_, plan_.relaunches),
                     seconds > 1 ? fmt::format(", after a pause of {} s", seconds) : ""));
    if (verdict.blames_set) set_aside(attempt_.from);
    pause_ = verdict.pause;
    return RunEvent::ready;
  }

  void report_end(bool was_killed) {
    if (!plan_.end) return;
    if (auto done = loop_.go({plan_.end(was_killed)}, plan_.restart_timeout, true); !done)
      say_("what the application left was not looked at: " + done.error().message());
  }

  // What the job shows now, where somebody wants to know it; nothing: no coordinator answers.
  std::optional<Sight> look() {
    if (plan_.relaunches == 0 || plan_.look.words.empty() || ending()) return std::nullopt;
    const auto outputs = loop_.go({plan_.look}, kTellTime);
    return outputs ? parse_sight(outputs->front()) : std::nullopt;
  }

  // Which nodes are to blame for an attempt in which no rank had its answer: by something that is started on each.
  NodeTrials::Verdict blame_nodes(const Attempt& attempt) {
    const auto& hosts = loop_.nodes().in_use().hosts;
    std::vector<std::string> closed;
    if (!attempt.got_answer && plan_.try_node && loop_.nodes().spares_left() > 0) {
      std::vector<HelperCommand> tries;
      for (const std::string& host : hosts) tries.push_back(plan_.try_node(host));
      const auto outputs = loop_.go_for(tries, kTellTime);
      for (size_t i = 0; outputs && i < hosts.size() && !ending(); ++i)
        if ((*outputs)[i].empty()) closed.push_back(hosts[i]);
    }
    auto verdict = node_trials_.ended(attempt, closed, hosts.size(), loop_.nodes().replaceable(closed));
    if (verdict.blames_nodes) say_(fmt::format("nothing can be started on {}", fmt::join(closed, ", ")));
    return verdict;
  }

  // Spares take the places of nodes whose agents stay, for what is in their stages. Whether the application has all
  // nodes that it needs.
  bool retire(const std::vector<std::string>& hosts) {
    for (const std::string& host : hosts) {
      if (std::ranges::find(loop_.nodes().in_use().hosts, host) == loop_.nodes().in_use().hosts.end()) continue;
      const auto spare = loop_.nodes().replace(host);
      if (!spare) {
        say_(fmt::format("nothing starts on node {}, and no spare with as many slots is left", host));
        return false;
      }
      report_.retired_nodes.push_back(host);
      say_(
          fmt::format("{} starts have died on node {} before a rank knew where to begin: {} takes its place, and its "
                      "agent stays for what is in its stage",
                      NodeTrials::kMostStarts, host, *spare));
      const auto started = start_daemons_instead(host, *spare);
      if (started || ending()) continue;
      say_(started.error().message());
      if (const auto has_nodes = replace(*spare); !has_nodes || !*has_nodes) return false;
    }
    return true;
  }

  // The application has not come further from this set: the next restart is to take the one before.
  void set_aside(const Sight::Source& set) {
    if (plan_.list.words.empty() || ending()) return;
    const std::string name = set.stored_as.empty() ? set.set : set.stored_as;
    const std::string what = fmt::format("{} starts from the set {} completed no new set", trials_.kMostAttempts, name);
    const auto listed = loop_.go({plan_.list}, plan_.restart_timeout);
    if (!listed || !plan_.has_other(listed->front(), set))
      return say_(what + "; it is tried again, since the series has no other intact set");
    const auto done = loop_.go({plan_.reject(set, what)}, plan_.restart_timeout);
    say_(done ? what + ": it is set aside, and the next start is from the set before it"
              : fmt::format("{}, and it cannot be set aside: {}", what, done.error().message()));
  }

  // As restore(); nothing if a node was lost over it and none is left in its place.
  Result<std::optional<RunPlan::Resumed>> restore_on_nodes_that_are_left() {
    for (;;) {
      const Time begin = Clock::now();
      const size_t lost = report_.lost_nodes.size();
      auto more = restore();
      if (more) return std::optional(*std::move(more));
      if (ending()) return std::unexpected(std::move(more).error());
      FOREBAY_TRY(const bool has_nodes, replace_lost_nodes(begin));
      if (report_.lost_nodes.size() == lost) return std::unexpected(std::move(more).error());
      say_("the restart failed: " + more.error().message());
      if (!has_nodes) return std::nullopt;
    }
  }

  // Waits until each node has been heard of since then, or is lost and replaced. Whether the application has all nodes
  // that it needs.
  Result<bool> replace_lost_nodes(Time since) {
    if (plan_.watch.node.count() == 0) return true;
    loop_.overseer().hurry(true);
    loop_.overseer().look_soon();
    const auto is_clear = [&] { return ending() || !loop_.lost().empty() || loop_.all_heard_since(since); };
    Result<bool> has_nodes = true;
    while (has_nodes && *has_nodes) {
      if (!loop_.pump(is_clear, Clock::now() + plan_.watch.node + plan_.start_timeout))
        say_("no answer says which nodes are left: the application keeps those that it has");
      if (ending() || loop_.lost().empty()) break;
      has_nodes = replace(loop_.lost().front());
      loop_.forget_lost();
    }
    loop_.overseer().hurry(false);
    return has_nodes;
  }

  // Whether a spare has taken the place of the node.
  Result<bool> replace(std::string host) {
    for (;;) {
      exclude(host);
      const auto spare = loop_.nodes().replace(host);
      if (!spare) {
        say_(fmt::format("node {} is lost, and no spare with as many slots is left", host));
        return false;
      }
      say_(fmt::format("node {} is lost: {} takes its place", host, *spare));
      const auto started = start_daemons_instead(host, *spare);
      wait_until_exclusions_are_known();
      if (started || ending()) return true;
      say_(started.error().message());
      host = *spare;
    }
  }

  void wait_until_exclusions_are_known() {
    if (!loop_.overseer().knows_excluded())
      loop_.pump([&] { return loop_.overseer().knows_excluded(); }, Clock::now() + kTellTime);
  }

  void exclude(const std::string& host) {
    report_.lost_nodes.push_back(host);
    loop_.daemons().give_up(host);
    loop_.overseer().exclude(host);
    loop_.overseer().look_soon();
  }

  Result<void> start_daemons_instead(const std::string& lost, const std::string& instead) {
    FOREBAY_CHECK(loop_.daemons().start_instead(lost, instead));
    return wait_for_daemons();
  }

  // How the application is to be started.
  Result<RunPlan::Resumed> restore() {
    if (plan_.looks.empty()) return RunPlan::Resumed();
    FOREBAY_TRY(const auto errands, what_to_restore());
    if (ending()) return RunPlan::Resumed();
    FOREBAY_TRY(auto outputs, loop_.go(errands, plan_.restart_timeout));
    if (ending()) return RunPlan::Resumed();
    FOREBAY_TRY(const auto put_back, plan_.put_back ? plan_.put_back(outputs) : std::optional<HelperCommand>());
    if (put_back) {
      FOREBAY_TRY(outputs, loop_.go({*put_back}, plan_.restart_timeout));
      if (ending()) return RunPlan::Resumed();
    }
    return plan_.resumed(outputs);
  }

  Result<std::vector<HelperCommand>> what_to_restore() {
    const Time end = Clock::now() + plan_.restart_timeout;
    for (;;) {
      std::vector<std::string> found;
      for (const HelperCommand& look : plan_.looks) {
        FOREBAY_TRY(const auto outputs, loop_.go({look}, plan_.restart_timeout));
        if (ending()) return std::vector<HelperCommand>{};
        found.push_back(outputs[0]);
      }
      FOREBAY_TRY(auto errands, plan_.restores(found, Clock::now() >= end, loop_.nodes().in_use()));
      if (errands) return *std::move(errands);
      loop_.pump([this] { return ending(); }, Clock::now() + kLookAgain);
    }
  }

  Result<void> launch(RunPlan::Resumed resumed) {
    auto words = resumed.command.empty() ? plan_.application : std::move(resumed.command);
    for (std::string& word : resumed.more) words.push_back(std::move(word));
    for (std::string& word : words) word = with_hosts(std::move(word), loop_.nodes().in_use());
    if (plan_.announce) FOREBAY_CHECK(plan_.announce(loop_.nodes().in_use()));
    if (!plan_.begin.words.empty()) FOREBAY_CHECK(loop_.go({plan_.begin}, plan_.restart_timeout));
    if (ending()) return {};
    auto environment = plan_.environment;
    for (auto& one : resumed.environment) environment.push_back(std::move(one));
    environment.push_back(mark_);
    environment.emplace_back("FOREBAY_ATTEMPT", std::to_string(report_.launches + 1));
    FOREBAY_CHECK(loop_.launch(std::move(words), std::move(environment), used_ < plan_.relaunches));
    ++report_.launches;
    return {};
  }

  void wait_for_application() {
    const auto gone = [&] { return !loop_.application().runs(); };
    loop_.pump([&] { return gone() || ending() || !loop_.end_because().empty(); }, Time::max());
    if (!gone() && !ending()) {
      say_(fmt::format("the application is ended: {}", loop_.end_because()));
      loop_.application().tell_all(SIGTERM);
    }
    if (!gone() && !loop_.pump(gone, Clock::now() + plan_.grace)) {
      if (!loop_.left()) say_(fmt::format("the application did not end within {} s: it is killed", plan_.grace / 1s));
      loop_.application().kill();
      // A second signal must not leave the process unreaped: its ending is what is returned.
      for (const Time until = Clock::now() + kLeaveTime; !gone() && Clock::now() < until;) loop_.handle(until);
    }
  }

  void end_orphans() {
    const Time soft = Clock::now() + kOrphanTime, hard = soft + kOrphanTime;
    bool told = false;
    for (auto left = loop_.orphans(); !left.empty() && Clock::now() < hard; left = loop_.orphans()) {
      const bool kills = loop_.left() || Clock::now() >= soft;
      if (!told || kills)
        for (const pid_t pid : left) ::kill(pid, kills ? SIGKILL : SIGTERM);
      told = true;
      loop_.handle(Clock::now() + kOrphanLook);
    }
  }

  std::chrono::milliseconds drain_patience(Time now) const {
    if (end_of_job_ == Time::max()) return plan_.drain_timeout;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_of_job_ - now - kEndTime);
    return std::clamp<std::chrono::milliseconds>(left, 1s, plan_.drain_timeout);
  }

  void drain() {
    const Time begin = Clock::now();
    // What needs them will not come.
    for (const std::string& host : loop_.lost())
      if (std::ranges::find(report_.lost_nodes, host) == report_.lost_nodes.end()) exclude(host);
    loop_.forget_lost();
    wait_until_exclusions_are_known();
    if (!(loop_.daemons().stopped_by_others() && loop_.daemons().all_gone())) {
      auto output = loop_.go({plan_.drain}, drain_patience(begin), true);
      if (output)
        report_.drain = std::move(output->front());
      else
        say_("not everything is drained: " + output.error().message());
    }
    report_.drain_time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  }

  // Whatever happened before: no process is left.
  void end_all() {
    loop_.end_helpers();
    loop_.daemons().let_go();
    const auto gone = [&] { return loop_.daemons().all_gone(); };
    const auto wait = [&](Time until) {
      while (!gone() && Clock::now() < until) loop_.handle(until);
    };
    if (!loop_.left() && report_.launches > 0)
      loop_.pump(gone, Clock::now() + (report_.drain ? kTidyTime : kHurryTime));
    loop_.daemons().kill(SIGTERM);
    wait(Clock::now() + kLeaveTime);
    loop_.daemons().kill(SIGKILL);
    wait(Clock::now() + kLeaveTime);
    end_orphans();
  }

  const RunPlan& plan_;
  const Say& say_;
  const std::pair<std::string, std::string>& mark_;
  RunLoop loop_;
  RestartTrials trials_{plan_.relaunch_pause};
  NodeTrials node_trials_;
  std::optional<Sight> before_;  // the start under way
  RunPlan::Resumed resumed_;     // how it is started
  Attempt attempt_;              // the last one
  NodeTrials::Verdict blame_;
  std::chrono::milliseconds pause_{0};  // before the next one
  std::optional<Error> failure_;
  uint64_t used_ = 0;  // of the relaunches
  Time end_of_job_ = Time::max();
  RunReport report_;
};

}  // namespace

Result<RunReport> run_job(const RunPlan& plan, const Say& say) {
  FOREBAY_TRY(auto events, Events::open());
  FOREBAY_TRY(const auto guard, Guard::start(plan.grace));
  adopt_orphans();
  return Run(plan, say, std::move(events), guard.mark()).run();
}

}  // namespace forebay::launch
