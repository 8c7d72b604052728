// The directories of the jobs that `forebay run` starts with a store, STORE/jobs/ID (decision 0027). While a job runs
// its directory holds the lease, the rendezvous and the logs of the daemons; when it has ended, the summary of what
// became of it, and the logs if something went wrong. What a job leaves that was killed is put in order by whoever sees
// it next.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/rendezvous/lease.h"

namespace forebay::job {

enum class JobState : uint8_t {
  running,  // its starter lives
  silent,   // its starter, on another node, has not been heard of for kLease
  died,     // its starter is gone, and has not put its end in order
  ended,    // has a summary
  unknown,  // nobody can tell: the lease is missing or cannot be read
};
const char* to_string(JobState state);

struct JobEntry {
  std::string id, path;
  JobState state = JobState::unknown;
  std::optional<LeaseSeen> lease = {};
  std::optional<nlohmann::json> summary = {};  // an object
};

// Makes `jobs`/ID, where ID is `id` or, if there is such a directory, `id`.2, `id`.3 and so on, with the lease in it,
// and returns its path. Nobody can see it without the lease.
Result<std::string> make_job_directory(const std::string& jobs, const std::string& id, const Holder& holder);
std::string lease_of(const std::string& job_directory);

// Of this user, oldest first. Empty if there is no such directory.
Result<std::vector<JobEntry>> list_jobs(const std::string& jobs);

// The job is over: writes `summary`, an object, unless there is one already, and removes the lease and the rendezvous,
// with the secret; the logs too, unless `keep_logs`. To be done by the job's starter; a second time does no harm.
Result<void> end_job(const std::string& job_directory, nlohmann::json summary, bool keep_logs);

inline constexpr size_t kKeptJobs = 50;

// Does what dead jobs have left to do: end_job() with a summary that says what is known, and logs kept. Removes what is
// left of directories that were being made or removed, and all but the newest `kept` jobs that have ended. Touches
// nothing of jobs that may be alive, of unknown ones, and of other users. What cannot be done is left to the next one;
// any number of processes may do it at once. Returns the jobs that were found dead, as they are now.
std::vector<JobEntry> clean_jobs(const std::string& jobs, size_t kept = kKeptJobs);

}  // namespace forebay::job
