// The part of an agent that says at once, not at the end of the day, that a rule does not fit what the application
// writes.
#include <utility>

#include <fmt/format.h>

#include "job/agent/agent_core.h"
#include "job/stage/begun_sets.h"
#include "store/files.h"

namespace forebay::job {
namespace {

constexpr size_t kMostNamed = 3;

// Whether anything lies in the stage that is neither Forebay's nor a stranger: one look at one directory.
bool has_things(const std::string& stage, const std::optional<Strangers>& strangers) {
  const auto names = store::names_in(stage);
  if (!names) return false;
  for (const std::string& name : *names)
    if (!name.starts_with('.') && (!strangers || !strangers->has(name))) return true;
  return false;
}

}  // namespace

void AgentCore::tell(const std::string& text) const {
  log(fabric::Severity::warning, text);
  if (options_.tell) options_.tell(text);
}

void AgentCore::watch_rule(Time now) {
  if (offered_ > 0 || begun_ > 0) rule_watch_.matched();
  if (now < rule_watch_.next()) return;
  std::string names;
  uint64_t count = 0;
  if (has_things(stage_, strangers_))
    if (const auto rows = what_is_left())
      for (const wire::LeftT& row : *rows)
        if (++count <= kMostNamed) names += fmt::format("{}'{}' ({})", count == 1 ? "" : ", ", row.name, row.reason);
  if (!rule_watch_.looked(count > 0, now)) return;
  tell(
      fmt::format("{}: files are there for {} s, and no set is complete: {}{}; does --complete say how the application "
                  "writes its sets?",
                  stage_, RuleWatch::kPatience / std::chrono::seconds(1), names,
                  count > kMostNamed ? fmt::format(" and {} more", count - kMostNamed) : ""));
}

void AgentCore::tell_misfit(const std::string& set, const std::string& reason) {
  if (!reminder_.is_due("files", std::chrono::steady_clock::now())) return;
  tell(fmt::format(
      "{}: {}, and nothing was written to it for {} s: it is no set by --complete settled:{}, which says how "
      "many files a set has on this node",
      set, reason, std::chrono::duration<double>(options_.completion.quiet).count(), options_.completion.files));
}

// What is not complete in the directory of a code whose sets are copied into this stage.
std::vector<std::unique_ptr<wire::LeftT>> AgentCore::begun_in_code() const {
  std::vector<std::unique_ptr<wire::LeftT>> rows;
  for (BegunSet& set : begun_sets(stage_)) {
    auto row = std::make_unique<wire::LeftT>();
    row->name = std::move(set.name);
    row->reason = std::move(set.reason);
    row->place = std::move(set.place);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace forebay::job
