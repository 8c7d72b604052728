// The part of an agent that looks at what the stage holds when the application has ended, or waits for a restart:
// nobody writes then, so that sets need not be left alone any longer, and what is not complete will not become so.
#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "job/agent/agent_core.h"
#include "job/client/stage_names.h"
#include "job/stage/begun_sets.h"
#include "store/files.h"
#include "store/names.h"

namespace forebay::job {
namespace {

using fabric::Severity;
using wire::SetState;

constexpr const char* kChanged =
    "it was there before this job, and was written to since: it is left alone; let the application write its sets to "
    "directories that are not there yet";

// What lies in the stage itself under names that sets cannot have.
struct Strays {
  uint64_t files = 0;
  std::string first;  // of the files
  std::vector<std::string> directories;
};

// Of what was there before only what was written to.
bool is_stray(const std::optional<Strangers>& strangers, const std::string& stage, const std::string& name) {
  return !is_anothers(stage, name) && (!strangers || !strangers->has(name) || strangers->was_changed(name));
}

Result<Strays> strays_in(const std::string& stage, const Completion& completion,
                         const std::optional<Strangers>& strangers) {
  FOREBAY_TRY(auto names, store::names_in(stage));
  std::ranges::sort(names);
  Strays strays;
  for (std::string& name : names) {
    struct stat info{};
    if (name.starts_with('.') || is_of_marker(name, completion)) continue;
    if (::lstat((stage + "/" + name).c_str(), &info) != 0) continue;
    if (!is_stray(strangers, stage, name)) continue;
    if (S_ISDIR(info.st_mode)) {
      if (!store::is_job_name(name)) strays.directories.push_back(std::move(name));
    } else if (!place_of(stage, name) && strays.files++ == 0) {
      strays.first = std::move(name);
    }
  }
  return strays;
}

wire::LeftT left(std::string name, std::string reason) {
  wire::LeftT left;
  left.name = std::move(name);
  left.reason = std::move(reason);
  return left;
}

}  // namespace

void AgentCore::settle(uint64_t number) {
  at_rest_ = std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  resting_.asked(number, looks_.is_idle());
  // Coordinators keep no lists of files of what is only in caches.
  std::vector<uint64_t> cached;
  for (const auto& [set, entry] : sets_.entries())
    if (entry.is_offered() && entry.is_in_cache()) cached.push_back(entry.exposure);
  for (const uint64_t exposure : cached) offer_again(exposure);
  look_at_all();
  tell_settled();
}

void AgentCore::tell_settled() {
  if (!resting_.is_asked() || !looks_.is_idle()) return;
  if (resting_.must_look_again()) {
    look_at_all();
    if (!looks_.is_idle()) return;
  }
  wire::SettledT settled;
  settled.number = *resting_.take();
  auto rows = what_is_left();
  if (!rows) rows = std::vector<wire::LeftT>{left(stage_, rows.error().message())};
  for (wire::LeftT& row : *rows) {
    log(Severity::info, fmt::format("{}: is not complete: {}", row.name, row.reason));
    if (settled.left.size() == wire::kMostLeft)
      ++settled.more;
    else
      settled.left.push_back(std::make_unique<wire::LeftT>(std::move(row)));
  }
  if (coordinator_ && coordinator_->is_welcome) send(coordinator_->id, std::move(settled));
}

// Why the files of the set are neither in the store nor on their way; nothing if they are, or if there are none.
std::optional<std::string> AgentCore::why_left(const std::string& set) const {
  const auto* entry = sets_.find(set);
  if (entry != nullptr && entry->is_offered()) return std::nullopt;
  if (is_anothers(stage_, set)) return std::nullopt;
  if (is_left_alone(set)) return strangers_->was_changed(set) ? std::optional<std::string>(kChanged) : std::nullopt;
  const auto has_files = holds_files(stage_, set);
  if (!has_files) return has_files.error().message();
  if (!*has_files) return std::nullopt;
  const bool is_same = entry != nullptr && entry->is_final() && is_as_it_ended(set);
  if (is_same && entry->state != SetState::failed) return std::nullopt;
  if (is_same) return "it failed: " + entry->message;
  if (auto rejected = looks_.why_rejected(set)) return rejected;
  const auto now = std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now());
  const auto ranks = awaited(set);
  const auto seen = scan_set(stage_, set, ranks, options_.completion);
  if (!seen) return seen.error().message();
  const Verdict verdict = judge(set, *seen, ranks, options_.completion, now, at_rest_);
  return verdict.content ? "it failed, or is being written" : verdict.reason;
}

Result<std::vector<wire::LeftT>> AgentCore::what_is_left() const {
  std::vector<wire::LeftT> rows;
  FOREBAY_TRY(const auto sets, sets_in(stage_));
  for (const std::string& set : sets)
    if (auto why = is_of_marker(set, options_.completion) ? std::nullopt : why_left(set))
      rows.push_back(left(set, *std::move(why)));
  FOREBAY_TRY(const auto aside, quarantined_sets(stage_));
  for (const Quarantined& set : aside)  // it goes as soon as a newer set is safe
    if (!sets_.has_newer_on_its_way(set.since_ns))
      rows.push_back(left(set.set, "it is set aside, and is not restarted from: " + set.reason));
  for (const BegunSet& set : begun_sets(stage_))
    if (set.is_lost) {
      rows.push_back(left(set.name, set.reason));
      rows.back().place = set.place;
    }
  FOREBAY_TRY(const Strays strays, strays_in(stage_, options_.completion, strangers_));
  for (const std::string& name : strays.directories)
    rows.push_back(left(name, store::check_job_name(name).error().what));
  if (strays.files > 0)
    rows.push_back(
        left(strays.first, fmt::format("{} in the stage itself, and not in a directory that is a set",
                                       strays.files == 1 ? "it lies" : fmt::format("{} files lie", strays.files))));
  return rows;
}

}  // namespace forebay::job
