#include "launch/run/events.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <poll.h>
#include <sys/signalfd.h>

namespace forebay::launch {

Result<Events> Events::open() {
  sigset_t all;
  sigemptyset(&all);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGTSTP}) sigaddset(&all, number);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  Fd signals(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return fail_errno(errno, "signalfd", {});
  return Events(std::move(signals));
}

void Events::read_signals(Seen& seen) {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD)
      seen.signals.push_back({static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL});
}

Events::Seen Events::wait(std::span<const int> fds, Time until) {
  Seen seen;
  // Children that ended together may have left one signal only, or none that was not read yet.
  seen.ended = reap();
  std::vector<pollfd> waits{{signals_.get(), POLLIN, 0}};
  for (const int fd : fds) waits.push_back({fd, POLLIN, 0});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
  const auto timeout = seen.ended.empty() ? std::clamp<long>(left, 0, 60'000) : 0;
  if (::poll(waits.data(), waits.size(), static_cast<int>(timeout)) <= 0) return seen;
  if (waits[0].revents != 0) {
    read_signals(seen);
    for (const Ended& one : reap()) seen.ended.push_back(one);
  }
  for (size_t i = 1; i < waits.size(); ++i)
    if (waits[i].revents != 0) seen.readable.push_back(waits[i].fd);
  return seen;
}

void Events::stop_this_process() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // here
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace forebay::launch
