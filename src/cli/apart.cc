#include "cli/apart.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"

namespace forebay::cli {
namespace {

constexpr size_t kMostBytes = 4096;  // what a pipe takes without waiting
constexpr char kWorks = '+', kFails = '-';

[[noreturn]] void attempt_in_child(const std::function<Result<std::string>()>& attempt, int to) {
  const auto result = attempt();
  const std::string text = result ? kWorks + *result : kFails + result.error().message();
  const ssize_t written = ::write(to, text.data(), std::min(text.size(), kMostBytes));
  ::_exit(written < 0 ? 1 : 0);
}

// What the child says; nothing if it says nothing in time.
std::string listen_to(int from, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::string text(kMostBytes, '\0');
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd ready{from, POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (count < 0 && errno == EINTR) continue;
    const ssize_t got = count > 0 ? ::read(from, text.data(), text.size()) : 0;
    text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
}

}  // namespace

Result<std::string> try_apart(const std::function<Result<std::string>()>& attempt, std::chrono::milliseconds patience) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "pipe", {});
  const Fd from(ends[0]);
  Fd to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "fork", {});
  if (child == 0) attempt_in_child(attempt, to.get());
  to = Fd();
  const std::string text = listen_to(from.get(), patience);
  ::kill(child, SIGKILL);  // what it had to do is done, or takes too long
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (text.empty() && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
    return fail(ErrorKind::unsupported, fmt::format("crashes when it is loaded (signal {})", WTERMSIG(status)));
  if (text.empty()) return fail(ErrorKind::timeout, "does not answer");
  if (text.front() == kFails) return fail(ErrorKind::unsupported, text.substr(1));
  return text.substr(1);
}

}  // namespace forebay::cli
