#include "launch/run/guard.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <thread>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/posix/processes.h"
#include "launch/run/pipe.h"
#include "store/files.h"

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* kVariable = "FOREBAY_RUN";
constexpr char kGoodbye = 'q';
constexpr auto kLook = 100ms;
constexpr auto kLast = 10s;  // for processes that were killed to be gone

void end_all_with(const std::string& entry, std::chrono::milliseconds grace) {
  const auto soft = Clock::now() + grace, hard = soft + kLast;
  std::vector<pid_t> told;
  for (auto left = processes_with(entry); !left.empty() && Clock::now() < hard; left = processes_with(entry)) {
    const bool kills = Clock::now() >= soft;
    for (const pid_t pid : left) {
      const bool is_new = std::ranges::find(told, pid) == told.end();
      if (is_new) told.push_back(pid);
      if (kills || is_new) ::kill(pid, kills ? SIGKILL : SIGTERM);
    }
    std::this_thread::sleep_for(kLook);
  }
}

// Nobody's output or lifeline is kept open by it.
void close_all_but(int one, int other) {
  const auto low = static_cast<unsigned>(std::min(one, other)), high = static_cast<unsigned>(std::max(one, other));
  if (low > 0) ::close_range(0, low - 1, 0);
  if (high > low + 1) ::close_range(low + 1, high - 1, 0);
  ::close_range(high + 1, ~0U, 0);
}

[[noreturn]] void guard(const std::string& entry, std::chrono::milliseconds grace, int lifeline, int ended) {
  ::prctl(PR_SET_NAME, "forebay-guard");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) ::signal(number, SIG_IGN);
  close_all_but(lifeline, ended);
  (void)!::chdir("/");
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(lifeline, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1 || byte != kGoodbye) end_all_with(entry, grace);
  ::_exit(0);
}

}  // namespace

std::vector<pid_t> processes_with(const std::string& entry) {
  std::vector<pid_t> found = other_processes();
  const size_t equals = entry.find('=');
  std::erase_if(found, [&](pid_t pid) {
    return variable_in(process_text(pid, "environ"), entry.substr(0, equals)) != entry.substr(equals + 1);
  });
  return found;
}

Result<Guard> Guard::start(std::chrono::milliseconds grace) {
  std::pair<std::string, std::string> mark(kVariable, store::random_token());
  const std::string entry = mark.first + "=" + mark.second;
  FOREBAY_TRY(Pipe lifeline, make_pipe());
  FOREBAY_TRY(Pipe ended, make_pipe());
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "fork", {});
  if (child == 0) {
    ::setsid();
    const pid_t own = ::fork();
    if (own == 0) guard(entry, grace, lifeline.read.get(), ended.write.get());
    ::_exit(own < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return fail(ErrorKind::io, "the guard of the application's processes cannot be started");
  return Guard(std::move(mark), std::move(lifeline.write), std::move(ended.read));
}

Guard::~Guard() {
  if (!lifeline_) return;
  (void)!::write(lifeline_.get(), &kGoodbye, 1);
  lifeline_ = Fd();
  pollfd wait{ended_.get(), POLLIN, 0};
  ::poll(&wait, 1, 1000);
}

}  // namespace forebay::launch
