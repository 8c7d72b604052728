#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/posix/processes.h"
#include "cli/job_places.h"

namespace forebay::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostStageEntries = 100'000;

std::string existing_above(const std::string& path) {
  std::error_code ignored;
  fs::path at = path;
  while (!fs::exists(at, ignored) && at.has_relative_path()) at = at.parent_path();
  return at.string();
}

bool is_same_directory(const std::string& one, const std::string& other) {
  struct stat a{}, b{};
  return one == other || (::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
                          a.st_ino == b.st_ino);
}

// Nothing if there are more entries than anybody wants to wait for.
uint64_t bytes_below(const std::string& directory, size_t& entries) {
  std::error_code error;
  uint64_t bytes = 0;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (++entries > kMostStageEntries) return 0;
    struct stat info{};
    if (::lstat(at->path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) bytes += static_cast<uint64_t>(info.st_size);
  }
  return bytes;
}

}  // namespace

JobPlaces probe_job_places(const std::string& stage, const std::string& store) {
  JobPlaces places{.stage = stage, .store = store, .set = {}, .elsewhere = {}};
  const std::string there = existing_above(stage);
  struct stat of_stage{}, of_store{};
  const bool has_stage = ::stat(there.c_str(), &of_stage) == 0;
  if (!store.empty() && has_stage && ::stat(existing_above(store).c_str(), &of_store) == 0)
    places.are_on_one_disk = of_stage.st_dev == of_store.st_dev;
  struct statvfs room{};
  if (::statvfs(there.c_str(), &room) != 0) return places;
  places.stage_bytes = static_cast<uint64_t>(room.f_blocks) * room.f_frsize;
  places.stage_free = static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
  return places;
}

Failure stage_failure(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "there is no such directory";
  if (!S_ISDIR(info.st_mode)) return "this is no directory";
  return ::access(path.c_str(), W_OK | X_OK) == 0 ? "" : "it cannot be written";
}

std::vector<JobPlaces::Elsewhere> processes_elsewhere(const std::string& rendezvous, const std::string& stage) {
  std::vector<JobPlaces::Elsewhere> found;
  for (const pid_t pid : other_processes()) {
    if (!is_own_process(pid)) continue;
    const std::string environment = process_text(pid, "environ");
    const std::string own(variable_in(environment, "FOREBAY_STAGE").value_or(""));
    if (own.empty() || variable_in(environment, "FOREBAY_RENDEZVOUS") != rendezvous || is_same_directory(own, stage))
      continue;
    std::string program = process_text(pid, "comm");
    while (program.ends_with('\n')) program.pop_back();
    found.push_back({fmt::format("a process of the application ({})", program), own, stage_failure(own)});
  }
  return found;
}

void measure_first_set(JobPlaces& places, int64_t since_s) {
  std::error_code error;
  size_t sets = 0, entries = 0;
  for (fs::directory_iterator at(places.stage, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    struct stat info{};
    if (name.starts_with('.') || ::lstat(at->path().c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    if (info.st_ctim.tv_sec < since_s) continue;
    if (++sets > 1) break;
    places.set = name;
    places.set_bytes = bytes_below(at->path().string(), entries);
  }
  if (sets == 1) return;
  places.set.clear();
  places.set_bytes = 0;
}

}  // namespace forebay::cli
