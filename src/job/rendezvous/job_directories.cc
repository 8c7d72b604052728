// What lies in STORE/jobs/ID:
//   lease     who the job's starter is (liveness.h); its time of modification tells when it was renewed last
//   summary   sealed JSON: what became of it. Its appearance, by a rename that never replaces, is the end of the job
//   log/      what the daemons said
//   and what rendezvous.cc lists
// In STORE/jobs, hidden: .new-* become directories of jobs by a rename, .gone-* are being removed, and .time-* tell the
// time. A directory whose job is over is given to no other job, so that who takes long to clean it cleans no other
// one's.
#include "job/rendezvous/job_directories.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/rendezvous/rendezvous.h"
#include "store/files.h"
#include "store/may_replace.h"
#include "store/sealed_text.h"

namespace forebay::job {
namespace {

using nlohmann::json;

constexpr std::string_view kSummaryTag = "forebay-job-summary";
constexpr uint64_t kSummaryVersion = 1;
constexpr uint64_t kMostSummaryBytes = 1 << 20;
constexpr int kMostSameIds = 10'000;
constexpr const char* kLeaseName = "lease";
constexpr const char* kSummaryName = "summary";
constexpr const char* kLogName = "log";
constexpr std::string_view kNewJob = ".new-", kGone = ".gone-", kTime = ".time-";

std::string in(const std::string& directory, std::string_view name) { return fmt::format("{}/{}", directory, name); }

bool is_own_directory(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

JobState state_of(Life life) {
  switch (life) {
    case Life::living:
      return JobState::running;
    case Life::silent:
      return JobState::silent;
    case Life::dead:
      return JobState::died;
  }
  return JobState::unknown;
}

JobEntry look(const std::string& jobs, const std::string& id, int64_t now) {
  JobEntry entry{.id = id, .path = in(jobs, id)};
  // The lease first: a job that ends in between has the summary when the lease is gone.
  if (auto lease = see_lease(lease_of(entry.path), now)) {
    entry.state = state_of(lease->life);
    entry.lease = *std::move(lease);
  }
  const std::string path = in(entry.path, kSummaryName);
  if (const auto text = store::read_text(path, kMostSummaryBytes)) {
    entry.state = JobState::ended;
    if (auto summary = store::unseal(kSummaryTag, *text, kSummaryVersion, path)) entry.summary = *std::move(summary);
  }
  return entry;
}

int64_t number(const JobEntry& entry, const char* key) {
  if (!entry.summary) return 0;
  const auto found = entry.summary->find(key);
  return found != entry.summary->end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

int64_t began(const JobEntry& entry) {
  return entry.lease ? entry.lease->holder.began_seconds : number(entry, "began_seconds");
}

// What a job leaves in its directory beside summary and logs.
void remove_traces(const std::string& path) {
  Rendezvous::remove_from(path);
  ::unlink(lease_of(path).c_str());
}

void end_dead(JobEntry& entry) {
  const Holder& holder = entry.lease->holder;
  json summary = {{"outcome", "died"},
                  {"host", holder.host},
                  {"pid", holder.pid},
                  {"command", holder.command},
                  {"began_seconds", holder.began_seconds},
                  {"ended_seconds", entry.lease->renewed_seconds}};
  if (end_job(entry.path, summary, true)) {
    entry.state = JobState::ended;
    entry.summary = std::move(summary);
  }
}

bool is_name_of_job(std::string_view name) {
  if (Rendezvous::is_name(name)) return true;
  while (name.starts_with('.')) name.remove_prefix(1);  // what a kill leaves of files that were being written
  return name.starts_with(kLeaseName) || name.starts_with(kSummaryName) || name == kLogName ||
         name.starts_with(kNewJob.substr(1));
}

// Of a job that has ended; not if somebody has put something else there.
void remove_whole(const std::string& jobs, const std::string& name) {
  const std::string gone = fmt::format("{}{}", kGone, store::random_token());
  if (!store::may_replace(in(jobs, name), {.right = store::Right::own, .is_own = is_name_of_job})) return;
  if (::rename(in(jobs, name).c_str(), in(jobs, gone).c_str()) != 0) return;
  (void)store::remove_tree(AT_FDCWD, in(jobs, gone), in(jobs, gone));
}

void clean_hidden(const std::string& jobs, const std::string& name, int64_t now) {
  const std::string path = in(jobs, name);
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || info.st_uid != ::geteuid()) return;
  if (S_ISDIR(info.st_mode) && !store::may_replace(path, {.right = store::Right::own, .is_own = is_name_of_job}))
    return;
  if (name.starts_with(kGone)) (void)store::remove_tree(AT_FDCWD, path, path);
  if (name.starts_with(kTime) && now - info.st_mtim.tv_sec > kLease.count()) ::unlink(path.c_str());
  if (!name.starts_with(kNewJob)) return;
  const auto lease = see_lease(lease_of(path), now);
  const bool never_was = !lease && lease.error().kind == ErrorKind::not_found;
  if ((lease && lease->life == Life::dead) || (never_was && now - info.st_mtim.tv_sec > kForgotten.count()))
    (void)store::remove_tree(AT_FDCWD, path, path);
}

}  // namespace

const char* to_string(JobState state) {
  switch (state) {
    case JobState::running:
      return "running";
    case JobState::silent:
      return "silent";
    case JobState::died:
      return "died";
    case JobState::ended:
      return "ended";
    case JobState::unknown:
      return "unknown";
  }
  return "";
}

std::string lease_of(const std::string& job_directory) { return in(job_directory, kLeaseName); }

Result<std::string> make_job_directory(const std::string& jobs, const std::string& id, const Holder& holder) {
  if (::mkdir(jobs.c_str(), 0775) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", jobs);
  const std::string made = in(jobs, fmt::format("{}{}", kNewJob, store::random_token()));
  if (::mkdir(made.c_str(), 0700) != 0) return fail_errno(errno, "mkdir", made);
  Result<void> moved = write_lease(made, kLeaseName, holder);
  for (int number = 1; moved; ++number) {
    const std::string path = in(jobs, number == 1 ? id : fmt::format("{}.{}", id, number));
    moved = store::rename_new(AT_FDCWD, made, AT_FDCWD, path, path);
    if (moved) return path;
    if (moved.error().kind == ErrorKind::exists && number < kMostSameIds) moved = {};
  }
  (void)store::remove_tree(AT_FDCWD, made, made);
  return std::unexpected(std::move(moved).error());
}

Result<std::vector<JobEntry>> list_jobs(const std::string& jobs) {
  const auto names = store::names_in(jobs);
  if (!names && names.error().kind == ErrorKind::not_found) return std::vector<JobEntry>{};
  if (!names) return std::unexpected(names.error());
  const int64_t now = file_system_time(jobs);
  std::vector<JobEntry> entries;
  for (const std::string& name : *names)
    if (!name.starts_with('.') && is_own_directory(in(jobs, name))) entries.push_back(look(jobs, name, now));
  std::ranges::sort(entries, [](const JobEntry& a, const JobEntry& b) {
    return std::pair(began(a), a.id) < std::pair(began(b), b.id);
  });
  return entries;
}

Result<void> end_job(const std::string& job_directory, json summary, bool keep_logs) {
  summary["version"] = kSummaryVersion;
  const std::string hidden = fmt::format("{}{}", kNewJob, store::random_token());
  FOREBAY_CHECK(store::write_text(job_directory, hidden, store::seal(kSummaryTag, summary)));
  const std::string from = in(job_directory, hidden), to = in(job_directory, kSummaryName);
  const auto renamed = store::rename_new(AT_FDCWD, from, AT_FDCWD, to, to);
  if (!renamed) ::unlink(from.c_str());
  if (!renamed && renamed.error().kind != ErrorKind::exists) return renamed;
  const std::string logs = in(job_directory, kLogName);
  if (!keep_logs) (void)store::remove_tree(AT_FDCWD, logs, logs);
  remove_traces(job_directory);
  return {};
}

std::vector<JobEntry> clean_jobs(const std::string& jobs, size_t kept) {
  std::vector<JobEntry> dead, ended;
  const auto entries = list_jobs(jobs);
  if (!entries) return dead;
  for (const JobEntry& entry : *entries) {
    if (entry.state == JobState::died) {
      end_dead(dead.emplace_back(entry));
      ended.push_back(dead.back());
    } else if (entry.state == JobState::ended) {
      remove_traces(entry.path);  // of an end that was interrupted
      ended.push_back(entry);
    }
  }
  std::ranges::sort(ended, {},
                    [](const JobEntry& entry) { return std::pair(number(entry, "ended_seconds"), entry.id); });
  for (size_t i = 0; i + kept < ended.size(); ++i)
    if (ended[i].state == JobState::ended && ended[i].summary) remove_whole(jobs, ended[i].id);
  const int64_t now = file_system_time(jobs);
  if (const auto names = store::names_in(jobs))
    for (const std::string& name : *names)
      if (name.starts_with('.')) clean_hidden(jobs, name, now);
  return dead;
}

}  // namespace forebay::job
