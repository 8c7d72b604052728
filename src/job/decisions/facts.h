// What the log's records amount to: the same for who has written them and who reads them. Any records in any order
// amount to something. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "job/decisions/decision.h"

namespace forebay::job {

struct Facts {
  static constexpr size_t kMostSets = 256;   // that are remembered by name: those of the highest places
  static constexpr size_t kMostLatest = 32;  // durable ones

  void apply(const Decision& decision);

  // What was decided of this writing of the set; null: nothing, or nobody knows which writing it is.
  const decided::Whole* whole(const std::string& set, uint64_t write) const;
  // Whether the set of that encoding is over, and sealed.
  bool is_sealed(uint64_t encoding) const;
  // Whether this is known of it: of a set that is deleted, it is not enough that it was refused.
  bool is_refused(const decided::Refused& one) const;
  // The same, of the writing of that name that became whole last.
  bool is_newest_refused(const std::string& set, bool removes) const;
  // Whether `sums.durable_place` may be that of the set.
  bool may_be_newest_durable(const std::string& set) const;
  // Whether the next set that counts as one of every `flush_every` is due.
  bool is_due(uint32_t flush_every) const;

  std::set<std::string> excluded;  // hosts
  decided::Sums sums;
  decided::Answered answered;                            // the last one
  std::vector<decided::Sealed> sealed;                   // the last kMostSets
  std::map<std::string, decided::Whole> wholes;          // without their samples
  std::vector<decided::Refused> refused;                 // the last kMostSets
  std::map<std::string, std::string> aside;              // sets that the store is still to set aside, and why
  std::map<std::string, decided::NotStored> not_stored;  // at the end, by name: of the highest places
  bool operator==(const Facts&) const = default;
};

// Records that amount to these facts.
std::vector<Decision> records_of(const Facts& facts);

}  // namespace forebay::job
