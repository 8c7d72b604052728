#include "cli/history.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {
namespace {

using Record = nlohmann::json;

// What of a job's totals is kept: its name in the summary of the job, and in documents.
constexpr std::pair<const char*, const char*> kTotals[] = {{"durable", "durable_count"},
                                                           {"skipped", "skipped_count"},
                                                           {"failed", "failed_count"},
                                                           {"raw_bytes", "raw_bytes"},
                                                           {"stored_bytes", "stored_bytes"}};

// A member of the summary: null where there is none.
Record part(const job::JobEntry& job, const char* key) {
  if (!job.summary) return {};
  const auto found = job.summary->find(key);
  return found != job.summary->end() ? *found : Record();
}

std::string word(const Record& value) { return value.is_string() ? printable(value.get<std::string>()) : ""; }

// Of a job's summary: names in documents, and in the summary.
constexpr std::pair<const char*, const char*> kParts[] = {{"outcome", "outcome"},
                                                          {"exit_code", "exit_code"},
                                                          {"end_signal", "told_to_end"},
                                                          {"out_of_time", "out_of_time"},
                                                          {"message", "error"},
                                                          {"launch_count", "launches"},
                                                          {"daemon_death_count", "daemon_deaths"},
                                                          {"drained", "drained"}};

// What nobody has told is no 0.
std::string count(const Record& value) {
  return value.is_number_unsigned() ? fmt::to_string(value.get<uint64_t>()) : "-";
}

Record total(const job::JobEntry& job, const char* key) {
  const Record totals = part(job, "totals");
  return totals.is_object() && totals.contains(key) ? totals.at(key) : Record();
}

Record of_holder(const job::JobEntry& job, const char* key) {
  if (!job.lease) return part(job, key);
  const job::Holder& holder = job.lease->holder;
  return Record{
      {"host", holder.host}, {"pid", holder.pid}, {"command", holder.command}, {"began_seconds", holder.began_seconds}}
      .at(key);
}

std::string log_directory(const job::JobEntry& job) {
  struct stat info{};
  const std::string path = job.path + "/log";
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) ? path : "";
}

std::string time_between(const Record& began, const Record& ended) {
  if (!began.is_number_integer() || !ended.is_number_integer()) return "-";
  return format_duration(static_cast<double>(std::max<int64_t>(ended.get<int64_t>() - began.get<int64_t>(), 0)));
}

std::string ended_text(const job::JobEntry& job) {
  if (!job.summary) return "ended, its summary cannot be read";
  if (word(part(job, "outcome")) == "died") return "died";
  if (const Record error = part(job, "error"); error.is_string()) return "failed: " + word(error);
  const Record code = part(job, "exit_code"), drained = part(job, "drained");
  std::string text = code.is_number_integer() ? fmt::format("exit code {}", code.get<int64_t>()) : "was not started";
  if (const Record over = part(job, "out_of_time"); over.is_boolean() && over.get<bool>())
    text += ", its time was over";
  if (drained.is_boolean() && !drained.get<bool>()) text += ", not drained";
  return text;
}

}  // namespace

Record summary_of_run(const job::Holder& holder, int64_t ended_seconds, const Result<launch::RunReport>& report,
                      const Json& status) {
  Record summary = {{"outcome", "ended"},
                    {"host", holder.host},
                    {"pid", holder.pid},
                    {"command", holder.command},
                    {"began_seconds", holder.began_seconds},
                    {"ended_seconds", ended_seconds}};
  if (!report) {
    summary["error"] = report.error().message();
    return summary;
  }
  summary["launches"] = report->launches;
  summary["exit_code"] = report->launches > 0 ? Record(report->ending.as_exit_code()) : Record();
  summary["daemon_deaths"] = report->daemon_deaths;
  summary["drained"] = report->drain.has_value();
  if (report->out_of_time) summary["out_of_time"] = true;
  if (report->told_to_end != 0) summary["told_to_end"] = report->told_to_end;
  const auto totals = status.is_object() ? status.find("totals") : status.end();
  if (!status.is_object() || totals == status.end() || !totals->is_object()) return summary;
  for (const auto& [key, name] : kTotals)
    if (const auto value = totals->find(name); value != totals->end() && value->is_number_unsigned())
      summary["totals"][key] = value->get<uint64_t>();
  return summary;
}

std::string outcome_text(const job::JobEntry& job) {
  switch (job.state) {
    case job::JobState::ended:
      return ended_text(job);
    case job::JobState::silent:
      return "silent for " + format_duration(static_cast<double>(job.lease->silence.count()));
    case job::JobState::running:
    case job::JobState::died:
    case job::JobState::unknown:
      return to_string(job.state);
  }
  return "";
}

// As much of it as a row has room for.
static std::string shortened(const Record& command) {
  constexpr size_t kMost = 40;
  if (!command.is_string()) return "";
  auto text = command.get<std::string>();
  if (text.size() <= kMost) return printable(text);
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not within a character
  return printable(text.substr(0, end)) + "...";
}

void print_history(std::span<const job::JobEntry> jobs, const std::string& jobs_directory) {
  Table table({{"JOB"},
               {"HOST"},
               {"BEGAN"},
               {"TOOK", Align::right},
               {"STARTS", Align::right},
               {"DURABLE", Align::right},
               {"SKIPPED", Align::right},
               {"FAILED", Align::right},
               {"DEATHS", Align::right},
               {"LOGS"},
               {"OUTCOME"},
               {"COMMAND"}});
  for (const job::JobEntry& job : jobs) {
    const Record began = of_holder(job, "began_seconds");
    table.add({printable(job.id), word(of_holder(job, "host")),
               began.is_number_integer() ? format_local_time(began.get<int64_t>()) : "-",
               time_between(began, part(job, "ended_seconds")), count(part(job, "launches")),
               count(total(job, "durable")), count(total(job, "skipped")), count(total(job, "failed")),
               count(part(job, "daemon_deaths")), log_directory(job).empty() ? "-" : "kept", outcome_text(job),
               shortened(of_holder(job, "command"))});
  }
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
  fmt::print("\nLogs are in {}/JOB/log. Of the jobs that have ended the newest {} are kept.\n", jobs_directory,
             job::kKeptJobs);
}

// "2026-11-24T18:30:00Z", or null.
static Json json_time(const Record& seconds) {
  return seconds.is_number_integer() ? Json(format_utc_time(seconds.get<int64_t>(), 0)) : Json();
}

static Json json_totals(const job::JobEntry& job) {
  if (!part(job, "totals").is_object()) return nullptr;
  Json totals = Json::object();
  for (const auto& [key, name] : kTotals) totals[name] = Json(total(job, key));
  return totals;
}

Json history_json(std::span<const job::JobEntry> jobs) {
  Json all = Json::array();
  for (const job::JobEntry& job : jobs) {
    Json one = {{"job", json_text(job.id)}, {"directory", json_text(job.path)}, {"state", to_string(job.state)}};
    for (const char* key : {"host", "pid", "command"}) one[key] = Json(of_holder(job, key));
    one["began"] = json_time(of_holder(job, "began_seconds"));
    one["ended"] = json_time(part(job, "ended_seconds"));
    one["silent_seconds"] = job.lease ? Json(job.lease->silence.count()) : Json();
    for (const auto& [name, key] : kParts) one[name] = Json(part(job, key));
    one["totals"] = json_totals(job);
    one["log_directory"] = json_text_or_null(log_directory(job));
    all.push_back(std::move(one));
  }
  return {{"jobs", std::move(all)}, {"kept_job_count", job::kKeptJobs}};
}

}  // namespace forebay::cli
