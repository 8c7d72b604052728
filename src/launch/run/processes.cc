#include "launch/run/processes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/run/pipe.h"

namespace forebay::launch {
namespace {

// The environment of this process with `more` in it.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(more.begin(), more.end(), [&](const auto& one) {
      return text.starts_with(one.first) && text.substr(one.first.size()).starts_with('=');
    });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// What the child needs: everything is made before fork(), for other threads may hold the allocator's locks.
struct Prepared {
  std::vector<std::string> words, environment;
  std::vector<char*> argv, envp;
  Pipe failure, in, out;
  Fd log;
};

Result<void> prepare(const ProcessSpec& spec, Prepared& child) {
  child.words = spec.words;
  child.environment = environment_with(spec.environment);
  child.argv = pointers(child.words);
  child.envp = pointers(child.environment);
  FOREBAY_TRY(child.failure, make_pipe());
  if (spec.piped) {
    FOREBAY_TRY(child.in, make_pipe());
    FOREBAY_TRY(child.out, make_pipe());
    ::fcntl(child.out.read.get(), F_SETFL, O_NONBLOCK);
  }
  if (!spec.log.empty()) {
    child.log = Fd(::open(spec.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!child.log) return fail_errno(errno, "open", spec.log);
  }
  return {};
}

void reset_signals() {
  for (const int number : {SIGXFSZ, SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCHLD}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const ProcessSpec& spec, const Prepared& child, pid_t parent) {
  reset_signals();
  if (spec.own_session) ::setsid();
  if (spec.death_signal != 0) {
    ::prctl(PR_SET_PDEATHSIG, spec.death_signal);
    if (::getppid() != parent) ::_exit(127);
  }
  if (spec.piped) {
    ::dup2(child.in.read.get(), STDIN_FILENO);
    ::dup2(child.out.write.get(), STDOUT_FILENO);
  }
  if (child.log) ::dup2(child.log.get(), STDERR_FILENO);
  ::execvpe(child.argv[0], child.argv.data(), child.envp.data());
  const int code = errno;
  (void)!::write(child.failure.write.get(), &code, sizeof code);
  ::_exit(127);
}

}  // namespace

Result<Process> spawn(const ProcessSpec& spec) {
  Prepared child;
  FOREBAY_CHECK(prepare(spec, child));
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno(errno, "fork", {});
  if (pid == 0) become(spec, child, parent);
  child.failure.write = Fd();
  int code = 0;
  ssize_t got = 0;
  while ((got = ::read(child.failure.read.get(), &code, sizeof code)) < 0 && errno == EINTR) {
  }
  if (got != sizeof code) return Process{pid, std::move(child.in.write), std::move(child.out.read)};
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return fail_errno(code, "run", spec.words[0]);
}

Result<std::string> output_of(const std::vector<std::string>& words, std::chrono::milliseconds patience) {
  constexpr size_t kMostBytes = 16 << 20;
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + patience;
  FOREBAY_TRY(auto process, spawn({.words = words, .death_signal = SIGTERM, .piped = true}));
  process.in = Fd();
  std::string output;
  bool is_whole = false;
  while (!is_whole && Clock::now() < until && output.size() < kMostBytes) {
    pollfd wait{process.out.get(), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (::poll(&wait, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 60'000))) <= 0) continue;
    char buffer[4096];
    const ssize_t got = ::read(process.out.get(), buffer, sizeof buffer);
    if (got > 0) output.append(buffer, static_cast<size_t>(got));
    is_whole = got == 0;
  }
  if (!is_whole) ::kill(process.pid, SIGKILL);
  int status = 0;
  while (::waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!is_whole) return fail(ErrorKind::timeout, fmt::format("'{}' does not come to an end", words[0]));
  if (const Ending ending = Ending::of(status); !ending.good())
    return fail(ErrorKind::disconnected, fmt::format("'{}' ended with {}", words[0], ending.text()));
  return output;
}

std::vector<Ended> reap() {
  std::vector<Ended> ended;
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) ended.push_back({pid, Ending::of(status)});
  return ended;
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

// The parent of a process, from /proc/PID/stat: "pid (name) state parent ...", where the name may hold anything.
static pid_t parent_of(const char* pid) {
  std::FILE* file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
  if (file == nullptr) return 0;
  char text[512];
  const size_t got = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[got] = '\0';
  const char* after = std::strrchr(text, ')');
  int parent = 0;
  return after != nullptr && std::sscanf(after + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* processes = ::opendir("/proc");
  if (processes == nullptr) return found;
  const pid_t self = ::getpid();
  while (const dirent* entry = ::readdir(processes))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == self)
      found.push_back(static_cast<pid_t>(std::atoi(entry->d_name)));
  ::closedir(processes);
  return found;
}

bool done_in_child(const std::function<void()>& action, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kLook{10};
  const auto until = std::chrono::steady_clock::now() + patience;
  const pid_t pid = ::fork();
  if (pid < 0) return false;
  if (pid == 0) {
    action();
    ::_exit(0);
  }
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(kLook);
  if (ended == 0) ::kill(pid, SIGKILL);  // and is not waited for: it may not even hear that
  return ended == pid && Ending::of(status).good();
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Result<std::vector<std::string>> split_words(const std::string& text) {
  std::vector<std::string> words;
  bool inside = false;  // a word has begun
  char quote = '\0';
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == '\0' && blank) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (quote == '\0' && (c == '\'' || c == '"'))
      quote = c;
    else if (c == quote)
      quote = '\0';
    else
      words.back() += c;
  }
  if (quote != '\0') return fail(ErrorKind::invalid_argument, "a quote has no end");
  return words;
}

}  // namespace forebay::launch
