#include "launch/gather/gather.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "job/stage/begun_sets.h"
#include "job/stage/reminder.h"
#include "launch/gather/code_processes.h"
#include "launch/gather/gather_notes.h"
#include "launch/gather/take.h"
#include "launch/gather/tree.h"
#include "launch/gather/tree_watch.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using fabric::Severity;
using rules::Verdict;

constexpr auto kAgainWhileOpen = 500ms;  // a file is being written, and its end may not be seen
constexpr auto kAgainAnyway = 5s;        // other nodes write without a notice
constexpr auto kLeastPause = 100ms;      // between two looks
constexpr int kPauseShare = 10;          // looks take no more than this part of a processor
constexpr auto kNoMatchPatience = 60s;   // before the user hears that no file matches
constexpr auto kReportAgain = job::Reminder::kPause;
constexpr auto kLeastRest = 10s;  // of what is begun, before the user hears why it is no set
constexpr int kRestFactor = 5;
constexpr auto kLauncherTime = 5s;  // for a launcher to end a code one of whose ranks was killed

int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Of this thread.
std::chrono::nanoseconds processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::set<FileId> ids_of(const std::vector<std::string>& directories) {
  std::set<FileId> ids;
  for (const std::string& path : directories) {
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0) ids.insert({info.st_dev, info.st_ino});
  }
  return ids;
}

class Gather {
 public:
  Gather(const GatherOptions& options, TreeWatch watch, std::set<FileId> leave_out)
      : options_(options),
        watch_(std::move(watch)),
        leave_out_(std::move(leave_out)),
        evaluator_(options.rule),
        processes_(options.stage, options.least_age) {}

  // Goes on where one before was.
  Result<void> resume() {
    state_ = read_gather_state(options_.stage).value_or(GatherState());
    for (const rules::SetId& id : state_.known) evaluator_.known(id);
    if (!state_.is_following) return {};
    last_ = state_.before;
    for (const auto& [path, file] : state_.taken) last_.insert_or_assign(path, file);
    for (const auto& [path, file] : last_) evaluator_.there(path, file.size);
    return look();
  }

  void carry_out(const GatherOrder& order) {
    const auto done = order.event == GatherEvent::begin ? begin() : end(order.event == GatherEvent::killed);
    const std::string wrong = done ? std::string() : done.error().message();
    if (auto answered = answer_gather_order(options_.stage, order, wrong); !answered)
      log(Severity::warning, answered.error().message());
  }

  // What happened since the last look.
  Result<void> look() {
    if (!state_.is_following) return {};
    const auto began = Clock::now();
    const auto processor = processor_time();
    FOREBAY_TRY(const auto moves, watch_.read());
    FOREBAY_TRY(Tree now, tree(last_));
    const rules::Time time = at();
    const Tree before = std::exchange(last_, now);
    const bool is_doubtful = processes_.has_lost_one();
    if (is_doubtful) evaluator_.doubted(time + kLauncherTime);  // before anything is due at this time
    report_changes(evaluator_, before, now, moves, time, text_of());
    if (is_doubtful) evaluator_.doubted(time + kLauncherTime);
    evaluator_.passed(time);
    // What a set takes to be copied and noted is no reason to look later. Where other processes keep the processors
    // busy, a look takes longer, but costs no more; on a slow file system half of the time is left to others.
    pause_ =
        std::max<Clock::duration>({kLeastPause, Clock::now() - began, (processor_time() - processor) * kPauseShare});
    has_matches_ = has_matches_ || !evaluator_.waiting().empty();
    FOREBAY_CHECK(take_verdicts(before, time));
    warn_of_no_match();
    warn_of_waiting();
    note_begun();
    const bool is_open = std::ranges::any_of(last_, [](const auto& one) { return one.second.is_open; });
    next_ = Clock::now() + (is_open ? kAgainWhileOpen : kAgainAnyway);
    if (const auto due = evaluator_.again())
      next_ = std::min(next_, start_ + std::chrono::ceil<std::chrono::milliseconds>(*due));
    return {};
  }

  int fd() const { return watch_.fd(); }
  bool is_following() const { return state_.is_following; }
  Clock::time_point next() const { return next_; }
  Clock::duration pause() const { return pause_; }

 private:
  void log(Severity severity, const std::string& text) const {
    if (options_.log) options_.log(severity, text);
  }
  void report(const std::string& text) const { log(Severity::warning, text); }

  rules::Time at() const { return std::chrono::duration_cast<rules::Time>(Clock::now() - start_); }

  TextOf text_of() const {
    return [this](const std::string& path) { return read_text_end(options_.directory, path); };
  }

  Result<Tree> tree(const Tree& before) const {
    const auto wants = [this](std::string_view path) {
      return rules::role_of(options_.rule, path).kind != rules::Item::Kind::never || evaluator_.wants_text(path);
    };
    return look_at_tree(options_.directory, leave_out_, wants, before);
  }

  // What lies there now is input, or is what a restart brought.
  Result<void> begin() {
    (void)watch_.read();
    evaluator_ = rules::Evaluator(options_.rule);
    for (const rules::SetId& id : state_.known) evaluator_.known(id);
    FOREBAY_TRY(last_, tree({}));
    size_t members = 0;
    std::string first;
    for (const auto& [path, file] : last_) {
      evaluator_.there(path, file.size);
      if (evaluator_.wants_text(path))
        if (const auto end = read_text_end(options_.directory, path))
          evaluator_.text(path, end->text, end->offset, at());
      if (rules::role_of(options_.rule, path).is_member() && members++ == 0) first = path;
    }
    if (members > 0)
      log(Severity::info,
          fmt::format("{} files were there before the start and are no set until they are written again: {}{}", members,
                      first, members > 1 ? ", ..." : ""));
    state_.is_following = true;
    state_.before = last_;
    state_.taken.clear();
    state_.lost.clear();
    note_begun();
    began_ = Clock::now();
    has_matches_ = false;
    (void)watch_.take_names();
    processes_.forget();
    return write_gather_state(options_.stage, state_);
  }

  Result<void> end(bool is_killed) {
    if (!state_.is_following) return {};
    FOREBAY_CHECK(look());
    const rules::Time time = at();
    is_killed ? evaluator_.killed(time) : evaluator_.ended(time);
    FOREBAY_CHECK(take_verdicts(last_, time));
    note_begun();
    state_.is_following = false;
    return write_gather_state(options_.stage, state_);
  }

  // Of a look at the time `now`. What was complete before it is what the look before saw: `before`.
  Result<void> take_verdicts(const Tree& before, rules::Time now) {
    auto verdicts = evaluator_.take_verdicts();
    if (verdicts.empty()) return {};
    for (const Verdict& verdict : verdicts) {
      has_matches_ = true;
      state_.known.push_back(verdict.id);
      if (verdict.state == Verdict::State::unfinished) {
        report(fmt::format("{} is not complete, and is not stored: {}", to_string(verdict.id), verdict.reason));
        if (verdict.is_loss) state_.lost.push_back({verdict.id, verdict.reason});
      } else
        take(verdict, verdict.at < now ? before : last_);
    }
    return write_gather_state(options_.stage, state_);
  }

  // `seen`: its files as they were judged.
  void take(const Verdict& verdict, const Tree& seen) {
    const std::string name = to_string(verdict.id);
    const auto taken =
        take_set(options_.directory, options_.stage, options_.rule, verdict, seen, options_.otherwise_named, wall_ns());
    if (!taken && taken.error().kind == ErrorKind::changed)
      return report(
          fmt::format("{} is not stored: {}; what is written now is the next set", name, taken.error().message()));
    if (!taken) {
      state_.lost.push_back({verdict.id, "it could not be copied: " + taken.error().message()});
      return report(fmt::format("{} is skipped: {}", name, taken.error().message()));
    }
    std::erase_if(state_.lost, [&](const auto& lost) { return lost.id.series == verdict.id.series; });
    for (const auto& file : verdict.members)
      if (const auto known = seen.find(file.path); known != seen.end()) state_.taken[known->first] = known->second;
    if (verdict.state == Verdict::State::suspect)
      report(fmt::format("{} is stored as {}, and is not the first choice of a restart: {}", name, *taken,
                         verdict.reason));
    else
      log(Severity::info,
          fmt::format("{} is complete: {} files are in the stage as {}", name, verdict.members.size(), *taken));
  }

  void warn_of_no_match() {
    if (has_matches_ || Clock::now() - began_ < kNoMatchPatience || Clock::now() < warn_again_) return;
    const auto names = watch_.take_names();
    if (names.empty()) return;
    warn_again_ = Clock::now() + kReportAgain;
    report(fmt::format("no file that was written below {} is of a set by the rule '{}'; written were {}, ...",
                       options_.directory, rules::print_rule(options_.rule), fmt::join(names, ", ")));
  }

  // What is begun, rests for long, and is no set by the rule.
  void warn_of_waiting() {
    const auto& done = options_.rule.done;
    const auto quiet = std::max(done.quiet.value_or(0ms), done.still.value_or(0ms));
    const auto patience = std::max<rules::Time>(kLeastRest, kRestFactor * quiet);
    for (const rules::Waiting& waiting : evaluator_.waiting()) {
      const rules::Time rest = at() - waiting.since;
      if (rest < patience || !reminder_.is_due("waiting", Clock::now())) continue;
      report(fmt::format("{} has rested for {} s, and is no set by the rule: {} ({} files of it are there)",
                         to_string(waiting.id), rest / 1s, waiting.reason, waiting.files));
    }
  }

  void note_begun() {
    std::vector<job::BegunSet> begun;
    for (const GatherState::Lost& lost : state_.lost)
      begun.push_back({to_string(lost.id), lost.reason, options_.directory, true});
    for (const rules::Waiting& waiting : evaluator_.waiting())
      begun.push_back({to_string(waiting.id), waiting.reason, options_.directory, false});
    if (begun == noted_) return;
    if (const auto done = job::note_begun_sets(options_.stage, begun); !done) return report(done.error().message());
    noted_ = std::move(begun);
  }

  const GatherOptions& options_;
  TreeWatch watch_;
  const std::set<FileId> leave_out_;
  rules::Evaluator evaluator_;
  CodeProcesses processes_;
  GatherState state_;
  Tree last_;  // as of the last look
  job::Reminder reminder_;
  std::optional<std::vector<job::BegunSet>> noted_;  // last
  bool has_matches_ = false;
  const Clock::time_point start_ = Clock::now();
  Clock::time_point began_ = start_, next_ = Clock::time_point::max(), warn_again_{};
  Clock::duration pause_ = kLeastPause;
};

// Waits until something happens or the time is over.
class Waiting {
 public:
  static Result<Waiting> create(const std::string& notes) {
    Waiting waiting;
    waiting.stopped_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    waiting.notes_ = Fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!waiting.stopped_ || !waiting.notes_) return fail_errno(errno, "inotify_init", notes);
    if (::inotify_add_watch(waiting.notes_.get(), notes.c_str(), IN_MOVED_TO) < 0)
      return fail_errno(errno, "watch", notes);
    return waiting;
  }

  void stop() const { (void)!::eventfd_write(stopped_.get(), 1); }

  void wait(int tree, Clock::time_point until) const {
    pollfd fds[] = {{tree, POLLIN, 0}, {notes_.get(), POLLIN, 0}, {stopped_.get(), POLLIN, 0}};
    const auto left = std::clamp<Clock::duration>(until - Clock::now(), 0ms, 1h);
    (void)::poll(fds, 3, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
    char ignored[4096];
    while (::read(notes_.get(), ignored, sizeof ignored) > 0) {
    }
  }

 private:
  Fd stopped_, notes_;
};

}  // namespace

Result<void> run_gather(const GatherOptions& options, std::stop_token stop) {
  ::signal(SIGIO, SIG_IGN);  // a writer that meets the lease by which tree.h asks whether a file is open
  FOREBAY_TRY(const std::string notes, gather_directory(options.stage));
  auto leave_out = ids_of(options.leave_out);
  leave_out.merge(ids_of({options.stage}));
  FOREBAY_TRY(auto watch, TreeWatch::create(options.directory, leave_out));
  FOREBAY_TRY(const auto waiting, Waiting::create(notes));
  const std::stop_callback at_stop(stop, [&] { waiting.stop(); });
  Gather gather(options, std::move(watch), std::move(leave_out));
  FOREBAY_CHECK(gather.resume());
  if (options.ready) options.ready();
  while (!stop.stop_requested()) {
    if (const auto order = read_gather_order(options.stage)) gather.carry_out(*order);
    if (gather.is_following()) FOREBAY_CHECK(gather.look());
    const auto until = gather.is_following() ? gather.next() : Clock::time_point::max();
    waiting.wait(gather.is_following() ? gather.fd() : -1, until);
    if (gather.is_following() && !stop.stop_requested()) waiting.wait(-1, Clock::now() + gather.pause());
  }
  return {};
}

}  // namespace forebay::launch
