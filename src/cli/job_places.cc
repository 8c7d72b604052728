#include "cli/job_places.h"

#include <fmt/format.h>

#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {
namespace {

constexpr uint64_t kLittleRoom = 256 << 20;

Finding elsewhere_finding(const JobPlaces& places, const JobPlaces::Elsewhere& one) {
  return {
      "stage of the application", Verdict::warning,
      fmt::format("{} has FOREBAY_STAGE={}{}, and the stage is {}", one.who, one.stage,
                  one.wrong.empty() ? "" : fmt::format(" ({})", one.wrong), places.stage),
      "what it writes there is not drained",
      fmt::format("see to it that FOREBAY_STAGE is not set on the way (env, -x, --export, a shell's start files), or "
                  "give --stage {}",
                  shell_word(one.stage))};
}

}  // namespace

std::vector<Finding> judge_job_places(const JobPlaces& places, bool says_room) {
  std::vector<Finding> findings;
  if (!places.elsewhere.empty()) findings.push_back(elsewhere_finding(places, places.elsewhere.front()));
  const std::string stage = "stage " + printable(places.stage);
  const std::string room = format_bytes(places.stage_free);
  if (places.stage_bytes > 0 && places.set_bytes > places.stage_free)
    findings.push_back({stage, Verdict::warning,
                        fmt::format("the set {} has {}, and only {} are free in the stage {}", places.set,
                                    format_bytes(places.set_bytes), room, places.stage),
                        "the next one does not fit beside it, and the application gets 'no space left'",
                        "make room there, or choose a larger --stage"});
  else if (says_room && places.stage_bytes > 0 && places.stage_free < kLittleRoom)
    findings.push_back({stage, Verdict::warning, fmt::format("only {} are free in the stage {}", room, places.stage),
                        "the application gets 'no space left' when a set does not fit",
                        "make room there, or choose another directory with --stage"});
  if (places.are_on_one_disk)
    findings.push_back({"store and stage",
                        Verdict::note,
                        "the store and the stage are on one file system",
                        "sets survive a crash of the application, and not the loss of that disk",
                        {}});
  return findings;
}

std::string remark_of(const Finding& finding) {
  const bool is_warning = finding.verdict > Verdict::note;
  return fmt::format("{}{}: {}{}", is_warning ? "warning: " : "", finding.found, finding.use,
                     finding.change.empty() ? "" : fmt::format(" ({})", finding.change));
}

}  // namespace forebay::cli
