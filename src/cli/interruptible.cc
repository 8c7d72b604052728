#include "cli/interruptible.h"

#include <csignal>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "store/staging.h"

namespace forebay::cli {
namespace {

constexpr std::pair<int, const char*> kInterrupts[] = {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}};

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  for (const auto& [number, name] : kInterrupts) sigaddset(&set, number);
  return set;
}

[[noreturn]] void end_by(int number, const std::string& what) {
  const char* signal = "a signal";
  for (const auto& [known, name] : kInterrupts) {
    std::signal(known, SIG_DFL);
    if (known == number) signal = name;
  }
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  fmt::print(stderr, "{}forebay: {} was interrupted by {}: what it had begun is removed\n",
             ::isatty(STDERR_FILENO) != 0 ? "\n" : "", what, signal);
  store::remove_taken_names();
  ::kill(::getpid(), number);
  for (;;) ::pause();
}

}  // namespace

Interruptible::Interruptible(std::string what) : what_(std::move(what)) {
  const sigset_t set = interrupts();
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC));
  done_ = Fd(::eventfd(0, EFD_CLOEXEC));
  if (!signals_ || !done_) return;  // they end the process as ever
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { wait(); });
}

Interruptible::~Interruptible() {
  if (!thread_.joinable()) return;
  is_over_ = true;
  const uint64_t one = 1;  // where this fails, the thread looks by itself
  (void)!::write(done_.get(), &one, sizeof one);
  thread_.join();
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Interruptible::wait() const {
  constexpr int kLookMilliseconds = 100;
  while (!is_over_) {
    pollfd waits[] = {{signals_.get(), POLLIN, 0}, {done_.get(), POLLIN, 0}};
    if (::poll(waits, 2, kLookMilliseconds) <= 0) continue;
    signalfd_siginfo info{};
    if (waits[0].revents != 0 && ::read(signals_.get(), &info, sizeof info) == sizeof info)
      end_by(static_cast<int>(info.ssi_signo), what_);
  }
}

}  // namespace forebay::cli
