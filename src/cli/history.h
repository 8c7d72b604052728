// forebay status --history: the jobs that `forebay run` started with a store, those that ended included.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/error.h"
#include "cli/json.h"
#include "job/rendezvous/job_directories.h"
#include "launch/run/run_job.h"

namespace forebay::cli {

// What is kept of a run, for job::end_job(). `status` is the coordinator's last word, or null.
nlohmann::json summary_of_run(const job::Holder& holder, int64_t ended_seconds, const Result<launch::RunReport>& report,
                              const Json& status);

// "exit code 3, not drained", "died", "running", "silent for 3:07 min".
std::string outcome_text(const job::JobEntry& job);

// A table for people, or a document: docs/json.md.
void print_history(std::span<const job::JobEntry> jobs, const std::string& jobs_directory);
Json history_json(std::span<const job::JobEntry> jobs);

}  // namespace forebay::cli
