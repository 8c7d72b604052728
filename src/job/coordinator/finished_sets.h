// What became of sets, for agents that offer them again and for the status. Pure.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/pack/group_report.h"
#include "job/coordinator/protection.h"
#include "job/coordinator/steps.h"
#include "job/wire/messages.h"

namespace forebay::job {

// What protects a set between nodes, for the status.
struct Encoding {
  std::string set, scheme;
  SetProtection::Row row;
};

struct FinishedSet {
  std::string name;
  wire::SetState state = wire::SetState::failed;
  std::string stored_as, message;
  bool is_void = false;  // failed: the application was started again before all ranks had completed it
  uint64_t ordinal = 0;
  uint64_t write = 0;            // 0: not told
  std::vector<uint64_t> hashes;  // of the parts, in order
  std::optional<int64_t> step;
  uint64_t raw_bytes = 0, stored_bytes = 0;
  double seconds = 0;
  Steps steps;
  engine::StageSeconds cpu;
  std::optional<Encoding> encoding{};  // it was sealed
};

// The latest ones.
class FinishedSets {
 public:
  void add(FinishedSet set);
  // The latest of that name one of whose parts has that hash, or which failed and is of that writing: a part that comes
  // late has failed with the others. Null: there is none.
  const FinishedSet* find(std::string_view name, uint64_t hash, uint64_t write) const;
  const std::deque<FinishedSet>& all() const { return sets_; }  // oldest first

 private:
  std::deque<FinishedSet> sets_;
};

}  // namespace forebay::job
