#include "job/stage/stage_series.h"

#include <vector>

#include <fmt/format.h>

#include "job/client/stage_names.h"
#include "job/stage/stage_notes.h"
#include "job/stage/stage_scan.h"
#include "job/stage/strangers.h"
#include "store/files.h"

namespace forebay::job {
namespace {

constexpr uint64_t kMostBytes = 1 << 10;
constexpr const char* kName = "series";

// The sets that an agent would still drain, as a list of a few.
Result<std::string> not_ended(const std::string& stage) {
  FOREBAY_TRY(const auto sets, sets_in(stage));
  std::vector<std::string> names;
  for (const std::string& set : sets) {
    if (!is_known(stage, set) || read_outcome(stage, set)) continue;
    FOREBAY_TRY(const bool has_files, holds_files(stage, set));
    if (has_files) names.push_back(set);
  }
  return listed(names);
}

}  // namespace

Result<void> take_stage(const std::string& stage, const std::string& series) {
  const std::string own = fmt::format("{}/{}", stage, kOwnDirectory);
  const auto before = store::read_text(own + "/" + kName, kMostBytes);
  if (!before && before.error().kind != ErrorKind::not_found) return std::unexpected(before.error());
  if (before && *before == series) return {};
  if (before) {
    FOREBAY_TRY(const std::string sets, not_ended(stage));
    if (!sets.empty())
      return fail(ErrorKind::exists,
                  fmt::format("the stage holds sets of the series {} that are not stored yet, and not of {}: {}",
                              *before, series, sets),
                  stage, {}, fmt::format("use another stage, store them with --series {}, or remove them", *before));
  }
  return store::write_text(own, kName, series);
}

}  // namespace forebay::job
