#include "tracer.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace crash {
namespace {

constexpr long kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                          PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

pid_t process_of(pid_t tid) {
  char path[64], line[256];
  std::snprintf(path, sizeof path, "/proc/%d/status", tid);
  std::FILE* file = std::fopen(path, "re");
  pid_t process = tid;
  while (file && std::fgets(line, sizeof line, file))
    if (std::sscanf(line, "Tgid: %d", &process) == 1) break;
  if (file) std::fclose(file);
  return process;
}

// The text at an address of a stopped thread.
std::string text_at(pid_t tid, uint64_t address) {
  constexpr size_t kMost = 4096;
  std::string text;
  while (text.size() < kMost) {
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKDATA, tid, address + text.size(), nullptr);
    if (errno != 0) break;
    const char* bytes = reinterpret_cast<const char*>(&word);
    const size_t length = ::strnlen(bytes, sizeof word);
    text.append(bytes, length);
    if (length < sizeof word) break;
  }
  return text;
}

// Where an open file or a directory is, or was before it was removed.
std::string place_of(pid_t tid, int descriptor) {
  char link[64], target[4096];
  if (descriptor == AT_FDCWD)
    std::snprintf(link, sizeof link, "/proc/%d/cwd", tid);
  else
    std::snprintf(link, sizeof link, "/proc/%d/fd/%d", tid, descriptor);
  const ssize_t length = ::readlink(link, target, sizeof target);
  return length > 0 ? std::string(target, static_cast<size_t>(length)) : std::string();
}

[[noreturn]] void become(char* const argv[]) {
  ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::raise(SIGSTOP);
  ::execvp(argv[0], argv);
  std::perror(argv[0]);
  ::_exit(127);
}

}  // namespace

Outcome Tracer::run(char* const argv[]) {
  const pid_t main = ::fork();
  if (main == 0) become(argv);
  int status = 0;
  ::waitpid(main, &status, __WALL);
  ::ptrace(PTRACE_SETOPTIONS, main, nullptr, kOptions);
  started_.insert(main);
  ::ptrace(PTRACE_SYSCALL, main, nullptr, nullptr);
  follow(main);
  return outcome_;
}

// Until every thread is gone, so that nothing of the command runs on when this returns.
void Tracer::follow(pid_t main) {
  for (;;) {
    int status = 0;
    const pid_t tid = ::waitpid(-1, &status, __WALL);
    if (tid < 0 && errno == EINTR) continue;
    if (tid < 0) return;
    if (WIFSTOPPED(status)) {
      const int signal = on_stop(tid, status);
      ::ptrace(PTRACE_SYSCALL, tid, nullptr, signal);
    } else if (tid == main) {
      outcome_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      outcome_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
  }
}

int Tracer::on_stop(pid_t tid, int status) {
  const int signal = WSTOPSIG(status);
  if (process_of_.emplace(tid, 0).second) process_of_[tid] = process_of(tid);
  if (is_killing_) ::kill(process_of_[tid], SIGKILL);
  if (signal == (SIGTRAP | 0x80)) {
    on_syscall(tid);
    return 0;
  }
  if ((status >> 8) == (SIGTRAP | (PTRACE_EVENT_EXEC << 8))) is_loaded_ = true;
  if ((status >> 16) != 0) return 0;                               // an event of ptrace, not a signal
  if (signal == SIGSTOP && started_.insert(tid).second) return 0;  // how a new thread announces itself
  return signal;
}

void Tracer::on_syscall(pid_t tid) {
  __ptrace_syscall_info info{};
  const auto size = reinterpret_cast<void*>(sizeof info);
  if (!is_loaded_ || ::ptrace(PTRACE_GET_SYSCALL_INFO, tid, size, &info) <= 0) return;
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    uint64_t args[6];
    for (int i = 0; i < 6; ++i) args[i] = info.entry.args[i];
    on_entry(tid, info.entry.nr, args);
  } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
    on_exit(tid, info.exit.rval);
  }
}

bool Tracer::is_under(pid_t tid, uint64_t number, const uint64_t args[6]) const {
  if (plan_.under.empty()) return true;
  const Changed changed = changed_by(number);
  const int directory = changed.directory < 0 ? AT_FDCWD : static_cast<int>(args[changed.directory]);
  if (changed.name < 0) return changed.directory >= 0 && place_of(tid, directory).starts_with(plan_.under);
  const std::string name = text_at(tid, args[changed.name]);
  return (name.starts_with("/") ? name : place_of(tid, directory) + "/" + name).starts_with(plan_.under);
}

// What is in a file already has its room there.
bool Tracer::has_room(pid_t tid, uint64_t number, const uint64_t args[6]) {
  if (number != SYS_pwrite64 && number != SYS_ftruncate) return false;
  const std::string file = "/proc/" + std::to_string(tid) + "/fd/" + std::to_string(args[0]);
  struct stat status{};
  constexpr uint64_t kBlock = 512;  // of st_blocks
  if (::stat(file.c_str(), &status) != 0) return false;
  const uint64_t size = static_cast<uint64_t>(status.st_size), end = args[1];
  if (number == SYS_ftruncate) return end <= size;
  return args[3] + args[2] <= size && static_cast<uint64_t>(status.st_blocks) * kBlock >= size;
}

std::optional<Syscall> Tracer::change(pid_t tid, uint64_t number, const uint64_t args[6]) {
  if (copies_descriptor(number, args) && opened_.contains({process_of_[tid], args[0]})) opening_.insert(tid);
  if (number == SYS_close && opened_.erase({process_of_[tid], args[0]}) != 0) return Syscall{"close", false};
  const auto call = changing_call(number, args);
  if (!call || !is_under(tid, number, args)) return {};
  if (opens_for_writing(number, args)) opening_.insert(tid);
  return call;
}

std::optional<Syscall> Tracer::read(pid_t tid, uint64_t number, const uint64_t args[6]) {
  const std::pair<pid_t, uint64_t> file = {process_of_[tid], args[0]};
  if (number == SYS_close) opened_.erase(file);
  if (reads(number) && opened_.contains(file)) return Syscall{"read", false};
  const auto name = opened_name(number);
  if (!name || !text_at(tid, args[*name]).starts_with(plan_.reads_under)) return {};
  opening_.insert(tid);
  return Syscall{"open", false};
}

void Tracer::on_entry(pid_t tid, uint64_t number, const uint64_t args[6]) {
  const auto call = plan_.reads_under.empty() ? change(tid, number, args) : read(tid, number, args);
  if (!call) return;
  ++outcome_.calls;
  const bool is_later = plan_.action == Action::fail_onward && outcome_.calls > plan_.at && call->allocates &&
                        !has_room(tid, number, args);
  if (plan_.action != Action::count && (outcome_.calls == plan_.at || is_later)) interfere(tid, call->name);
}

void Tracer::interfere(pid_t tid, const char* name) {
  if (outcome_.interfered.empty()) outcome_.interfered = name;
  // A close that fails has closed the file.
  if (plan_.action == Action::kill || std::string_view(name) != "close") skip_call(tid);
  if (plan_.action != Action::kill) {
    failing_.insert(tid);
    return;
  }
  is_killing_ = true;
  for (const auto& [thread, process] : process_of_) ::kill(process, SIGKILL);
}

// An impossible number makes the kernel do nothing; on_exit() sets what it returns.
void Tracer::skip_call(pid_t tid) {
  user_regs_struct registers{};
  ::ptrace(PTRACE_GETREGS, tid, nullptr, &registers);
  registers.orig_rax = static_cast<unsigned long long>(-1);
  ::ptrace(PTRACE_SETREGS, tid, nullptr, &registers);
}

void Tracer::on_exit(pid_t tid, int64_t returned) {
  if (failing_.erase(tid) != 0) {
    user_regs_struct registers{};
    ::ptrace(PTRACE_GETREGS, tid, nullptr, &registers);
    registers.rax = static_cast<unsigned long long>(-plan_.error);
    ::ptrace(PTRACE_SETREGS, tid, nullptr, &registers);
    opening_.erase(tid);
  } else if (opening_.erase(tid) != 0 && returned >= 0) {
    opened_.insert({process_of_[tid], static_cast<uint64_t>(returned)});
  }
}

}  // namespace crash
