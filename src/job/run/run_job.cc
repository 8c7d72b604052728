#include "job/run/run_job.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "job/run/application.h"
#include "job/run/events.h"
#include "job/run/guard.h"
#include "job/run/helper_commands.h"
#include "job/run/overseer.h"

namespace forebay::job {
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
      : plan_(plan),
        say_(say),
        mark_(mark),
        events_(std::move(events)),
        daemons_(plan.daemons, say),
        nodes_(plan.nodes),
        overseer_(plan.watch, plan.look, plan.exclude),
        progress_(plan.watch),
        node_watch_(plan.watch.node),
        deadline_(plan.deadline) {}

  Result<RunReport> run() {
    auto done = start_daemons();
    if (done && !ending()) done = run_application();
    end_of_job_ = deadline_.end_of_job();
    deadline_ = Deadline();
    if (done && report_.launches > 0 && !report_.left) drain();
    end_all();
    report_.daemon_deaths = daemons_.deaths();
    if (!done) return std::unexpected(std::move(done).error());
    return report_;
  }

 private:
  bool ending() const { return report_.told_to_end != 0; }

  // Handles what happens until `is_done`, the time `until`, or a second signal. Whether it is done.
  template <class Condition>
  bool pump(const Condition& is_done, Time until) {
    while (!is_done()) {
      if (report_.left || Clock::now() >= until) return false;
      handle(std::min(until, daemons_.next_tick()));
    }
    return true;
  }

  void handle(Time until) {
    auto pipes = daemons_.pipes();
    for (const HelperCommands* errands : {&helpers_, &clock_})
      for (const int fd : errands->pipes()) pipes.push_back(fd);
    for (const int fd : overseer_.pipes()) pipes.push_back(fd);
    const auto seen = events_.wait(pipes, std::min({until, overseer_.next_tick(), deadline_.next()}));
    for (const int fd : seen.readable) {
      daemons_.readable(fd);
      helpers_.readable(fd);
      overseer_.readable(fd);
      clock_.readable(fd);
    }
    const Time now = Clock::now();
    for (const Ended& one : seen.ended) {
      if (application_.ended(one)) {
        report_.ending = one.ending;
      } else if (!daemons_.ended(one, now) && !overseer_.ended(one)) {
        if (!helpers_.ended(one)) clock_.ended(one);
      }
    }
    for (const Events::Signal& signal : seen.signals) received(signal);
    daemons_.tick(now);
    overseer_.tick(now);
    if (auto newest = overseer_.take_seen()) observe(*std::move(newest), now);
    watch_time(now);
  }

  // Nobody looked after the application while this process did not run.
  void begin_watch() {
    progress_.begin(Clock::now());
    node_watch_.begin();
    lost_.clear();
  }

  void observe(Overseer::Seen seen, Time now) {
    seen_ = std::move(seen);
    if (plan_.watch.node.count() > 0) lost_ = node_watch_.look(nodes_.in_use().hosts, seen_.sight, now);
    if (!application_.runs() || ending() || !report_.ended_because.empty()) return;
    if (const auto why = progress_.look(seen_.sight, now)) report_.ended_because = "it hangs: " + *why;
    if (progress_.is_blind() && plan_.watch.hang.count() > 0 && now - launched_ > plan_.watch.hang)
      say_once(
          "no agent knows a process of the application, so processor time tells nothing, and --hang-timeout is not "
          "kept; see to it that its launcher passes on $FOREBAY_RENDEZVOUS, or use --set-interval");
    for (const std::string& host : lost_) judge_loss(host);
  }

  // An application that cannot go on elsewhere is left alone: perhaps only the agent is lost.
  void judge_loss(const std::string& host) {
    if (report_.launches > plan_.relaunches)
      say_once(fmt::format("node {} is lost, and the application is not to be started again", host));
    else if (!nodes_.can_replace(host))
      say_once(fmt::format("node {} is lost, and no spare has as many slots", host));
    else
      report_.ended_because = fmt::format("node {} is lost", host);
  }

  void say_once(const std::string& text) {
    if (std::ranges::find(said_, text) != said_.end()) return;
    said_.push_back(text);
    say_(text);
  }

  void watch_time(Time now) {
    if (asks_time_ && clock_.done()) {
      asks_time_ = false;
      const auto outputs = clock_.outputs();
      const Result<Deadline::Left> left =
          outputs ? plan_.time_left(outputs->front()) : std::unexpected(outputs.error());
      if (!left) say_("how much time the job has left is not told: " + left.error().message());
      deadline_.answered(left.has_value(), left.value_or(Deadline::Left()), now);
    }
    const auto step = deadline_.step(now);
    if (step == Deadline::Step::ask) {
      clock_.clear();
      asks_time_ = clock_.start(plan_.ask_time).has_value();
      if (!asks_time_) deadline_.answered(false, {}, now);
    } else if (step == Deadline::Step::end && !ending()) {
      report_.out_of_time = true;
      report_.told_to_end = SIGTERM;
      say_("the time of the job is nearly over: the application is told to end, and what is complete is drained");
      if (application_.runs()) application_.pass_on(SIGTERM, false);
    }
  }

  void received(const Events::Signal& signal) {
    if (signal.number == SIGTSTP) return pause();
    if (ending()) {
      report_.left = true;
      return;
    }
    report_.told_to_end = signal.number;
    if (!application_.runs()) return;
    say_("told to end: waits for the application, then drains; a second signal leaves at once");
    application_.pass_on(signal.number, signal.from_terminal);
  }

  // As the terminal would do it, were the application in this process group; the daemons go on.
  void pause() {
    application_.tell_all(SIGSTOP);
    Events::stop_this_process();
    application_.tell_all(SIGCONT);
    begin_watch();
  }

  Result<void> start_daemons() {
    FOREBAY_CHECK(daemons_.start());
    return wait_for_daemons();
  }

  Result<void> wait_for_daemons() {
    const auto settled = [&] {
      const auto ready = daemons_.ready();
      return !ready || *ready || ending();
    };
    const bool in_time = pump(settled, Clock::now() + plan_.start_timeout);
    FOREBAY_TRY(const bool ready, daemons_.ready());
    if (!ready && !in_time && !ending())
      return fail(ErrorKind::timeout,
                  fmt::format("not ready after {} s: {}", plan_.start_timeout / 1s, daemons_.not_ready()));
    return {};
  }

  Result<void> run_application() {
    for (;;) {
      FOREBAY_TRY(auto more, restore_on_nodes_that_are_left());
      if (ending() || !more) return {};
      FOREBAY_CHECK(launch(*std::move(more)));
      wait_for_application();
      end_orphans();
      const std::string& why = report_.ended_because;
      if (!should_relaunch(report_.ending, !why.empty(), ending(), report_.launches - 1, plan_.relaunches)) return {};
      FOREBAY_TRY(const bool has_nodes, replace_lost_nodes(Clock::now()));
      if (!has_nodes || ending()) return {};
      say_(fmt::format("the application ended with {}{}; it is started again ({} of {})", report_.ending.text(),
                       why.empty() ? "" : ", as " + why, report_.launches, plan_.relaunches));
    }
  }

  // As restore(); nothing if a node was lost over it and none is left in its place.
  Result<std::optional<std::vector<std::string>>> restore_on_nodes_that_are_left() {
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
    overseer_.hurry(true);
    overseer_.look_soon();
    const auto is_clear = [&] {
      return ending() || !lost_.empty() ||
             (seen_.sight && all_heard_since(nodes_.in_use().hosts, *seen_.sight, since, seen_.at));
    };
    Result<bool> has_nodes = true;
    while (has_nodes && *has_nodes) {
      if (!pump(is_clear, Clock::now() + plan_.watch.node + plan_.start_timeout))
        say_("nobody tells which nodes are left: the application keeps those that it has");
      if (ending() || lost_.empty()) break;
      has_nodes = replace(lost_.front());
      lost_.clear();
      node_watch_.begin();
    }
    overseer_.hurry(false);
    return has_nodes;
  }

  // Whether a spare has taken the place of the node.
  Result<bool> replace(std::string host) {
    for (;;) {
      exclude(host);
      const auto spare = nodes_.replace(host);
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
    if (!overseer_.knows_excluded()) pump([&] { return overseer_.knows_excluded(); }, Clock::now() + kTellTime);
  }

  void exclude(const std::string& host) {
    report_.lost_nodes.push_back(host);
    daemons_.give_up(host);
    overseer_.exclude(host);
    overseer_.look_soon();
  }

  Result<void> start_daemons_instead(const std::string& lost, const std::string& instead) {
    FOREBAY_CHECK(daemons_.start_instead(lost, instead));
    return wait_for_daemons();
  }

  // The application's further words.
  Result<std::vector<std::string>> restore() {
    if (plan_.looks.empty()) return std::vector<std::string>{};
    FOREBAY_TRY(const auto errands, what_to_restore());
    if (ending()) return std::vector<std::string>{};
    FOREBAY_TRY(const auto outputs, go(errands, plan_.restart_timeout));
    if (ending()) return std::vector<std::string>{};
    return plan_.restart_words(outputs);
  }

  Result<std::vector<HelperCommand>> what_to_restore() {
    const Time end = Clock::now() + plan_.restart_timeout;
    for (;;) {
      std::vector<std::string> found;
      for (const HelperCommand& look : plan_.looks) {
        FOREBAY_TRY(const auto outputs, go({look}, plan_.restart_timeout));
        if (ending()) return std::vector<HelperCommand>{};
        found.push_back(outputs[0]);
      }
      FOREBAY_TRY(auto errands, plan_.restores(found, Clock::now() >= end, nodes_.in_use()));
      if (errands) return *std::move(errands);
      pump([this] { return ending(); }, Clock::now() + kLookAgain);
    }
  }

  // Runs errands to their end, side by side.
  Result<std::vector<std::string>> go(const std::vector<HelperCommand>& errands, std::chrono::milliseconds patience,
                                      bool even_when_ending = false) {
    helpers_.clear();
    for (const HelperCommand& errand : errands) FOREBAY_CHECK(helpers_.start(errand));
    const bool done = pump([&] { return helpers_.done() || (ending() && !even_when_ending); }, Clock::now() + patience);
    if (done && !helpers_.done()) return std::vector<std::string>(errands.size());
    if (!done)
      return fail(ErrorKind::timeout,
                  report_.left ? "interrupted" : fmt::format("{} took more than {} s", errands[0].name, patience / 1s));
    return helpers_.outputs();
  }

  Result<void> launch(std::vector<std::string> more) {
    auto words = plan_.application;
    for (std::string& word : more) words.push_back(std::move(word));
    if (plan_.announce) FOREBAY_CHECK(plan_.announce(nodes_.in_use()));
    report_.ended_because.clear();
    auto environment = plan_.environment;
    environment.push_back(mark_);
    environment.emplace_back("FOREBAY_ATTEMPT", std::to_string(report_.launches + 1));
    FOREBAY_CHECK(application_.start(std::move(words), std::move(environment)));
    launched_ = Clock::now();
    begin_watch();
    ++report_.launches;
    return {};
  }

  void wait_for_application() {
    const auto gone = [&] { return !application_.runs(); };
    pump([&] { return gone() || ending() || !report_.ended_because.empty(); }, Time::max());
    if (!gone() && !ending()) {
      say_(fmt::format("the application is ended: {}", report_.ended_because));
      application_.tell_all(SIGTERM);
    }
    if (!gone() && !pump(gone, Clock::now() + plan_.grace)) {
      if (!report_.left) say_(fmt::format("the application did not end within {} s: it is killed", plan_.grace / 1s));
      application_.kill();
      // A second signal must not leave the process unreaped: its ending is what is returned.
      for (const Time until = Clock::now() + kLeaveTime; !gone() && Clock::now() < until;) handle(until);
    }
  }

  // What the application started, if it did not end with it.
  std::vector<pid_t> orphans() const {
    auto all = children();
    std::erase_if(all, [&](pid_t pid) {
      return daemons_.owns(pid) || helpers_.owns(pid) || overseer_.owns(pid) || clock_.owns(pid) ||
             application_.owns(pid);
    });
    return all;
  }

  void end_orphans() {
    const Time soft = Clock::now() + kOrphanTime, hard = soft + kOrphanTime;
    bool told = false;
    for (auto left = orphans(); !left.empty() && Clock::now() < hard; left = orphans()) {
      const bool kills = report_.left || Clock::now() >= soft;
      if (!told || kills)
        for (const pid_t pid : left) ::kill(pid, kills ? SIGKILL : SIGTERM);
      told = true;
      handle(Clock::now() + kOrphanLook);
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
    for (const std::string& host : std::exchange(lost_, {}))
      if (std::ranges::find(report_.lost_nodes, host) == report_.lost_nodes.end()) exclude(host);
    wait_until_exclusions_are_known();
    if (!(daemons_.stopped_by_others() && daemons_.all_gone())) {
      auto output = go({plan_.drain}, drain_patience(begin), true);
      if (output)
        report_.drain = std::move(output->front());
      else
        say_("not everything is drained: " + output.error().message());
    }
    report_.drain_time = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  }

  // Whatever happened before: no process is left.
  void end_all() {
    helpers_.clear();
    overseer_.end();
    clock_.clear();
    application_.kill();
    daemons_.let_go();
    const auto gone = [&] { return daemons_.all_gone(); };
    const auto wait = [&](Time until) {
      while (!gone() && Clock::now() < until) handle(until);
    };
    if (!report_.left && report_.launches > 0) pump(gone, Clock::now() + (report_.drain ? kTidyTime : kHurryTime));
    daemons_.kill(SIGTERM);
    wait(Clock::now() + kLeaveTime);
    daemons_.kill(SIGKILL);
    wait(Clock::now() + kLeaveTime);
    end_orphans();
  }

  const RunPlan& plan_;
  const Say& say_;
  const std::pair<std::string, std::string>& mark_;
  Events events_;
  Daemons daemons_;
  HelperCommands helpers_;
  NodeTable nodes_;
  Overseer overseer_;
  ProgressWatch progress_;
  NodeWatch node_watch_;
  Overseer::Seen seen_;            // the newest
  std::vector<std::string> lost_;  // nodes in use, by the newest
  std::vector<std::string> said_;
  Deadline deadline_;
  HelperCommands clock_;  // asks how much time the job has left
  bool asks_time_ = false;
  Time end_of_job_ = Time::max();
  Application application_;
  Time launched_{};
  RunReport report_;
};

}  // namespace

Result<RunReport> run_job(const RunPlan& plan, const Say& say) {
  FOREBAY_TRY(auto events, Events::open());
  FOREBAY_TRY(const auto guard, Guard::start(plan.grace));
  adopt_orphans();
  return Run(plan, say, std::move(events), guard.mark()).run();
}

}  // namespace forebay::job
