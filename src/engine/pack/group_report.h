// What packing one rank group comes to; how that travels between processes, and becomes a manifest.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "engine/pack/lossy.h"
#include "store/store.h"

namespace forebay::engine {

// Where the processor's time went, in seconds summed over the threads of each stage.
struct StageSeconds {
  double fetch = 0;   // reading pieces into frames
  double encode = 0;  // choosing a chain, encoding, checksums, characteristics
  double write = 0;   // appending to containers

  void add(const StageSeconds& other);
};

struct GroupReport {
  store::ContainerEntry entry;
  uint64_t variables = 0, frames = 0, payload_bytes = 0;
  std::vector<LossyOutcome> lossy;          // one per rule
  std::vector<store::ParentEntry> parents;  // in the order of the names, without the times
  StageSeconds cpu_seconds;
  std::vector<std::string> remarks;
};

// By the number of the rank group.
using GroupReports = std::map<uint64_t, GroupReport>;

std::string to_text(const GroupReport& report);
std::string to_text(const GroupReports& reports);

// The inverse. `text` is hostile: corrupt if it is not what to_text() makes, with names that a manifest may have. Takes
// memory in proportion to the text.
Result<GroupReport> parse_group_report(std::string_view text);
Result<GroupReports> parse_group_reports(std::string_view text);

// What the rules did in all groups together: one outcome for each of `rules` rules.
std::vector<LossyOutcome> sum_outcomes(const GroupReports& reports, size_t rules);

// What a set is, beside its containers.
struct SetFacts {
  std::string name, application_name;  // see store::Manifest
  std::optional<int64_t> step;
  uint64_t ordinal = 0;         // 0: it gets one when it is committed
  std::string profile, scheme;  // as the user asked
  uint64_t ranks = 0, group_size = 0;
  std::optional<int64_t> since_chosen;      // see store::Manifest
  std::vector<std::string> lossy;           // the texts of the rules that the groups were packed with
  const store::Manifest* parent = nullptr;  // of the set that frames were looked for in; null without one
  std::vector<store::StageTime> stages;     // on the clock; the processors' times are those of the groups
  std::string suspicion;                    // see store::Manifest
  store::Origin origin;
};

// The manifest of a set of these groups, created now. corrupt if a report does not fit: it has outcomes of another
// number of rules, or names a parent that neither `parent` nor one of its parents is.
Result<store::Manifest> make_manifest(const SetFacts& set, const GroupReports& reports);

}  // namespace forebay::engine
