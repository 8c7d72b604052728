// The part of an agent that deals with what lies in the stage already when it starts: sets that an agent before it has
// noted go on; what was there before the run, and was not seen to come, is left alone (decision 0050).
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "job/agent/agent_core.h"
#include "job/stage/stage_notes.h"

namespace forebay::job {

using fabric::Severity;

static std::string about_strangers(const std::string& stage, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const bool is_one = names.size() == 1;
  return fmt::format(
      "{}: {} there before this job, and no earlier job knows {}: {}; {} left alone, neither stored nor removed "
      "('forebay "
      "pack {}/NAME' stores a directory of it, 'forebay watch {} --once' all that is complete by a rule)",
      stage, is_one ? "something was" : fmt::format("{} things were", names.size()), is_one ? "it" : "them",
      listed(names), is_one ? "it is" : "they are", stage, stage);
}

Result<void> AgentCore::take_stage_as_it_is() {
  if (strangers_ && strangers_->are_new() && options_.found == Found::leave)
    left_alone_ = about_strangers(stage_, strangers_->names());
  if (!left_alone_.empty()) log(Severity::warning, left_alone_);
  FOREBAY_TRY(const auto noted, noted_sets(stage_));
  for (const std::string& set : noted) FOREBAY_CHECK(resume_noted(set));
  return {};
}

Result<void> AgentCore::resume_noted(const std::string& set) {
  if (is_left_alone(set)) return {};
  if (is_ours(set)) FOREBAY_CHECK(discard_lost(stage_, set));
  FOREBAY_TRY(const bool has_files, has_set(stage_, set));
  if (!has_files) forget_seen(stage_, set);
  const auto place = place_of(stage_, set);
  const std::string level = place ? level_of(*place) : std::string();
  if (const auto outcome = read_outcome(stage_, set)) {
    sets_.ended(set, *outcome, has_files, level);
    if (has_files) sets_.takes(set, bytes_at(set));
    sets_.encoded(set, cache_.protects(set));
  } else if (const auto begun = read_begin(stage_, set); begun && *begun) {
    sets_.resume(set, (*begun)->policy ? (*begun)->policy->write : 0, level);
  }
  if (auto noted = read_noted_place(stage_, set)) sets_.had_place(set, *std::move(noted));
  return {};
}

bool AgentCore::is_left_alone(const std::string& set) const { return options_.found == Found::leave && !is_ours(set); }

bool AgentCore::is_ours(const std::string& set) const { return !strangers_ || !strangers_->has(set); }

Result<void> AgentCore::check_free(const std::string& set) const {
  if (!is_ours(set))
    return fail(ErrorKind::exists, "it was there before this job, and no earlier job knows it: it is not replaced",
                fmt::format("{}/{}", stage_, set), {}, "move it out of the stage, or use another name");
  if (is_anothers(stage_, set))
    return fail(ErrorKind::permission, "it belongs to another user", fmt::format("{}/{}", stage_, set), {},
                "use another name, or another stage");
  return {};
}

// Sets of forebay.h have notes of their own, and without a rule there are no others.
void AgentCore::note_sight(const std::string& set) {
  if (options_.completion.kind == Completion::Kind::api || !is_ours(set)) return;
  struct stat info{};
  const bool is_there = ::lstat(fmt::format("{}/{}", stage_, set).c_str(), &info) == 0;
  if (!is_there) return forget_seen(stage_, set);
  if (!S_ISDIR(info.st_mode) || is_anothers(stage_, set)) return;
  if (const auto noted = note_seen(stage_, set); !noted) warn_once(set, noted.error().message());
}

}  // namespace forebay::job
