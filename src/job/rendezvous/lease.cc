#include "job/rendezvous/lease.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/files.h"

namespace forebay::job {
namespace {

constexpr uint64_t kMostLeaseBytes = 64 << 10;

Result<std::string> processes_of_this_node() {
  const std::string boot_file = "/proc/sys/kernel/random/boot_id", space_file = "/proc/self/ns/pid";
  std::string boot;
  if (!std::getline(std::ifstream(boot_file), boot) || boot.empty())
    return fail(ErrorKind::io, "the boot's identity cannot be read", boot_file);
  std::error_code error;
  const auto space = std::filesystem::read_symlink(space_file, error);
  if (error) return fail_errno(error.value(), "readlink", space_file);
  return boot + " " + space.string();
}

std::optional<uint64_t> start_of(uint64_t pid) {
  std::string stat;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", pid)), stat);
  return parse_process_start(stat);
}

// Until the other end of the pipe is closed. Only calls that are safe after fork() in a process with one thread.
[[noreturn]] void keep(const char* path, int every_ms, int lifeline, int ended) {
  ::prctl(PR_SET_NAME, "forebay-lease");
  // What is said to the job is not for the keeper: it ends when the job's starter does.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT}) ::signal(number, SIG_IGN);
  // Other descriptors would keep pipes open that are somebody's lifeline or output.
  const int low = std::min(lifeline, ended), high = std::max(lifeline, ended);
  if (low > 0) ::close_range(0, static_cast<unsigned>(low) - 1, 0);
  if (high > low + 1) ::close_range(static_cast<unsigned>(low) + 1, static_cast<unsigned>(high) - 1, 0);
  ::close_range(static_cast<unsigned>(high) + 1, ~0U, 0);
  (void)!::chdir("/");
  pollfd wait{lifeline, POLLIN, 0};
  while (::poll(&wait, 1, every_ms) <= 0)
    if (::utimensat(AT_FDCWD, path, nullptr, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) break;
  ::_exit(0);
}

}  // namespace

Result<Holder> this_holder(std::string command) {
  Holder holder;
  FOREBAY_TRY(holder.processes, processes_of_this_node());
  char name[256]{};
  holder.host = ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "localhost";
  holder.pid = static_cast<uint64_t>(::getpid());
  const auto started = start_of(holder.pid);
  if (!started) return fail(ErrorKind::io, "cannot be read", fmt::format("/proc/{}/stat", holder.pid));
  holder.pid_started = *started;
  holder.began_seconds = std::time(nullptr);
  constexpr size_t kMostCommand = 4096;
  command.resize(std::min(command.size(), kMostCommand));
  holder.command = std::move(command);
  return holder;
}

Result<void> write_lease(const std::string& directory, const std::string& name, const Holder& holder) {
  return store::write_text(directory, name, seal_holder(holder));
}

Result<LeaseKeeper> LeaseKeeper::start(const std::string& path, std::chrono::milliseconds every) {
  const std::string absolute = std::filesystem::absolute(path);
  int lifeline[2], ended[2];
  if (::pipe2(lifeline, O_CLOEXEC) != 0) return fail_errno(errno, "pipe", {});
  Fd lifeline_read(lifeline[0]), lifeline_write(lifeline[1]);
  if (::pipe2(ended, O_CLOEXEC) != 0) return fail_errno(errno, "pipe", {});
  Fd ended_read(ended[0]), ended_write(ended[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno(errno, "fork", {});
  if (child == 0) {
    ::setsid();
    const pid_t keeper = ::fork();
    if (keeper == 0) {
      // Not in `keep`'s way: the job's side of both pipes.
      ::close(lifeline_write.get());
      ::close(ended_read.get());
      keep(absolute.c_str(), static_cast<int>(every.count()), lifeline_read.get(), ended_write.get());
    }
    ::_exit(keeper < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return fail(ErrorKind::io, "the lease's keeper cannot be started", absolute);
  return LeaseKeeper(std::move(lifeline_write), std::move(ended_read));
}

LeaseKeeper::~LeaseKeeper() {
  if (!lifeline_) return;
  lifeline_ = Fd();
  pollfd wait{ended_.get(), POLLIN, 0};
  ::poll(&wait, 1, 1000);
}

Result<LeaseSeen> see_lease(const std::string& path, int64_t now_seconds) {
  FOREBAY_TRY(const std::string text, store::read_text(path, kMostLeaseBytes));
  LeaseSeen seen;
  FOREBAY_TRY(seen.holder, parse_holder(text, path));
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return fail_errno(errno, "stat", path);
  seen.renewed_seconds = info.st_mtim.tv_sec;
  seen.silence = std::chrono::seconds(std::max<int64_t>(now_seconds - info.st_mtim.tv_sec, 0));
  FOREBAY_TRY(const std::string here, processes_of_this_node());
  Traces traces{.same_processes = here == seen.holder.processes, .silence = seen.silence};
  seen.looked_up = traces.same_processes;
  if (traces.same_processes) traces.pid_started = start_of(seen.holder.pid);
  seen.life = judge(seen.holder, traces);
  return seen;
}

int64_t file_system_time(const std::string& directory) {
  const std::string path = fmt::format("{}/.time-{}", directory, store::random_token());
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  struct stat info{};
  const bool known = file && ::fstat(file.get(), &info) == 0;
  if (file) ::unlink(path.c_str());
  return known ? info.st_mtim.tv_sec : std::time(nullptr);
}

}  // namespace forebay::job
