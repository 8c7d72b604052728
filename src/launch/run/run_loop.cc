#include "launch/run/run_loop.h"

#include <array>
#include <csignal>

#include <fmt/format.h>

#include "launch/run/processes.h"

namespace forebay::launch {

using namespace std::chrono_literals;

RunLoop::RunLoop(const RunPlan& plan, const Say& say, Events events)
    : plan_(plan),
      say_(say),
      events_(std::move(events)),
      daemons_(plan.daemons, say),
      nodes_(plan.nodes),
      overseer_(plan.watch, plan.look, plan.exclude),
      progress_(plan.watch),
      node_watch_(plan.watch.node),
      deadline_(plan.deadline) {}

void RunLoop::handle(Time until) {
  auto pipes = daemons_.pipes();
  for (const HelperCommands* errands : {&helpers_, &clock_})
    for (const int fd : errands->pipes()) pipes.push_back(fd);
  for (const int fd : overseer_.pipes()) pipes.push_back(fd);
  const auto seen = events_.wait(pipes, std::min({until, overseer_.next_tick(), deadline_.next(), next_remarks()}));
  for (const int fd : seen.readable) {
    daemons_.readable(fd);
    helpers_.readable(fd);
    overseer_.readable(fd);
    clock_.readable(fd);
  }
  const Time now = Clock::now();
  for (const Ended& one : seen.ended) {
    if (application_.ended(one)) {
      ending_ = one.ending;
    } else if (!daemons_.ended(one, now) && !overseer_.ended(one)) {
      if (!helpers_.ended(one)) clock_.ended(one);
    }
  }
  for (const Events::Signal& signal : seen.signals) received(signal);
  daemons_.tick(now);
  overseer_.tick(now);
  if (auto newest = overseer_.take_seen()) observe(*std::move(newest), now);
  watch_time(now);
  say_remarks(now);
}

RunLoop::Time RunLoop::next_remarks() const {
  constexpr std::array kAfter = {2s, 10s, 30s, 60s};
  const bool is_asked = plan_.remarks && application_.runs() && remarks_ < kAfter.size();
  return is_asked ? launched_ + kAfter[remarks_] : Time::max();
}

void RunLoop::say_remarks(Time now) {
  if (now < next_remarks()) return;
  ++remarks_;
  for (const std::string& text : plan_.remarks()) say_once(text);
}

// Nobody looked after the application while this process did not run.
void RunLoop::begin_watch() {
  progress_.begin(Clock::now());
  forget_lost();
}

void RunLoop::forget_lost() {
  node_watch_.begin();
  lost_.clear();
}

bool RunLoop::all_heard_since(Time since) const {
  return seen_.sight && launch::all_heard_since(nodes_.in_use().hosts, *seen_.sight, since, seen_.at);
}

void RunLoop::observe(Overseer::Seen seen, Time now) {
  seen_ = std::move(seen);
  if (plan_.watch.node.count() > 0) lost_ = node_watch_.look(nodes_.in_use().hosts, seen_.sight, now);
  if (!application_.runs() || is_ending() || !end_because_.empty()) return;
  if (seen_.sight) {
    say_whether_sets_come(seen_.sight->no_set);
    say_whether_store_fills(seen_.sight->store_fills);
  }
  if (const auto why = progress_.look(seen_.sight, now)) end_because_ = "it hangs: " + *why;
  if (progress_.is_blind() && plan_.watch.hang.count() > 0 && now - launched_ > plan_.watch.hang)
    say_once(
        "no agent knows a process of the application, so its processor time is unknown, and --hang-timeout is not "
        "kept; see to it that its launcher passes on $FOREBAY_RENDEZVOUS, or use --set-interval");
  for (const std::string& host : lost_) judge_loss(host);
}

// An application that cannot go on elsewhere is left alone: perhaps only the agent is lost.
void RunLoop::judge_loss(const std::string& host) {
  if (!may_start_again_)
    say_once(fmt::format("node {} is lost, and the application is not to be started again", host));
  else if (!nodes_.can_replace(host))
    say_once(fmt::format("node {} is lost, and no spare has as many slots", host));
  else {
    end_because_ = fmt::format("node {} is lost", host);
    node_is_lost_ = true;
  }
}

// Its text changes with each look, so that a change is what is said.
void RunLoop::say_whether_sets_come(const std::string& no_set) {
  if (std::exchange(sets_come_, no_set.empty()) == no_set.empty()) return;
  say_(no_set.empty() ? "sets become complete again" : "warning: " + no_set);
}

void RunLoop::say_whether_store_fills(const std::string& store_fills) {
  if (std::exchange(store_has_room_, store_fills.empty()) == store_fills.empty()) return;
  say_(store_fills.empty() ? "the store has room again" : "warning: " + store_fills + "; prune it, or see --keep-last");
}

void RunLoop::say_once(const std::string& text) {
  if (std::ranges::find(said_, text) != said_.end()) return;
  said_.push_back(text);
  say_(text);
}

void RunLoop::watch_time(Time now) {
  if (asks_time_ && clock_.done()) {
    asks_time_ = false;
    const auto outputs = clock_.outputs();
    const Result<Deadline::Left> left = outputs ? plan_.time_left(outputs->front()) : std::unexpected(outputs.error());
    if (!left) say_("how much time the job has left is not told: " + left.error().message());
    deadline_.answered(left.has_value(), left.value_or(Deadline::Left()), now);
  }
  const auto step = deadline_.step(now);
  if (step == Deadline::Step::ask) {
    clock_.clear();
    asks_time_ = clock_.start(plan_.ask_time).has_value();
    if (!asks_time_) deadline_.answered(false, {}, now);
  } else if (step == Deadline::Step::end && !is_ending()) {
    out_of_time_ = true;
    told_to_end_ = SIGTERM;
    say_("the time of the job is nearly over: the application is told to end, and what is complete is drained");
    if (application_.runs()) application_.pass_on(SIGTERM, false);
  }
}

void RunLoop::received(const Events::Signal& signal) {
  if (signal.number == SIGTSTP) return pause();
  if (is_ending()) {
    left_ = true;
    return;
  }
  told_to_end_ = signal.number;
  if (!application_.runs()) return;
  say_("told to end: waits for the application, then drains; a second signal leaves at once");
  application_.pass_on(signal.number, signal.from_terminal);
}

// As the terminal would do it, were the application in this process group; the daemons go on.
void RunLoop::pause() {
  application_.tell_all(SIGSTOP);
  Events::stop_this_process();
  application_.tell_all(SIGCONT);
  begin_watch();
}

Result<std::vector<std::string>> RunLoop::go(const std::vector<HelperCommand>& errands,
                                             std::chrono::milliseconds patience, bool even_when_ending) {
  helpers_.clear();
  for (const HelperCommand& errand : errands) FOREBAY_CHECK(helpers_.start(errand));
  const bool done =
      pump([&] { return helpers_.done() || (is_ending() && !even_when_ending); }, Clock::now() + patience);
  if (done && !helpers_.done()) return std::vector<std::string>(errands.size());
  if (!done)
    return fail(ErrorKind::timeout,
                left_ ? "interrupted" : fmt::format("{} took more than {} s", errands[0].name, patience / 1s));
  return helpers_.outputs();
}

Result<std::vector<std::string>> RunLoop::go_for(const std::vector<HelperCommand>& helpers,
                                                 std::chrono::milliseconds patience) {
  helpers_.clear();
  for (const HelperCommand& helper : helpers) FOREBAY_CHECK(helpers_.start(helper));
  pump([&] { return helpers_.done() || is_ending(); }, Clock::now() + patience);
  return helpers_.outputs();
}

Result<void> RunLoop::launch(std::vector<std::string> words,
                             std::vector<std::pair<std::string, std::string>> environment, bool may_start_again) {
  end_because_.clear();
  node_is_lost_ = false;
  may_start_again_ = may_start_again;
  FOREBAY_CHECK(application_.start(std::move(words), std::move(environment)));
  launched_ = Clock::now();
  begin_watch();
  return {};
}

RunLoop::Time RunLoop::stop_deadline() {
  const Time end = deadline_.end_of_job();
  deadline_ = Deadline();
  return end;
}

std::vector<pid_t> RunLoop::orphans() const {
  auto all = children();
  std::erase_if(all, [&](pid_t pid) {
    return daemons_.owns(pid) || helpers_.owns(pid) || overseer_.owns(pid) || clock_.owns(pid) ||
           application_.owns(pid);
  });
  return all;
}

void RunLoop::end_helpers() {
  helpers_.clear();
  overseer_.end();
  clock_.clear();
  application_.kill();
}

}  // namespace forebay::launch
