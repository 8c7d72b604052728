#include "tracer.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <signal.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscalls.h"

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

bool Tracer::closes_written_file(pid_t tid, uint64_t number, const uint64_t args[6]) {
  return number == SYS_close && written_.erase({process_of_[tid], args[0]}) != 0;
}

void Tracer::on_entry(pid_t tid, uint64_t number, const uint64_t args[6]) {
  auto call = changing_call(number, args);
  if (closes_written_file(tid, number, args)) call = Syscall{"close", false};
  if (!call) return;
  ++outcome_.calls;
  if (opens_for_writing(number, args)) opening_.insert(tid);
  const bool is_later = plan_.action == Action::fail_onward && outcome_.calls > plan_.at && call->allocates;
  if (plan_.action != Action::count && (outcome_.calls == plan_.at || is_later)) interfere(tid, call->name);
}

void Tracer::interfere(pid_t tid, const char* name) {
  if (outcome_.interfered.empty()) outcome_.interfered = name;
  skip_call(tid);
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
    written_.insert({process_of_[tid], static_cast<uint64_t>(returned)});
  }
}

}  // namespace crash
