// A set that is not over, on one row: from the first offer of a part of it, or from the order to store it out of the
// caches, until all agents hear how it ended (docs/job.md shows its phases). Its parts and its way into the store are
// set_drain.h's, its encoding is protection.h's; what agents hold of it afterwards, cached_sets.h has. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "job/coordinator/cached_sets.h"
#include "job/coordinator/protection.h"
#include "job/coordinator/set_drain.h"
#include "job/wire/messages.h"
#include "redundancy/scheme.h"

namespace forebay::job {

struct SetRow {
  SetRow(uint64_t id, std::string name, const CoordinatorOptions& options, SetDrain::Time now)
      : drain(id, std::move(name), options, now) {}

  // It is sealed, cannot be, or need not be.
  bool needs_no_encoding() const {
    return protection.scheme == redundancy::Scheme::none || flush || (encoding && encoding->has_ended());
  }
  bool is_sealed() const { return encoding && encoding->is_sealed(); }
  // What cannot be protected is stored.
  bool is_to_store() const {
    return is_due.value_or(false) || flush || (encoding && encoding->has_ended() && !encoding->is_sealed());
  }
  // It waited for its drain, which cannot be had from what is there.
  bool is_sealed_and_gone() const { return is_sealed() && drain.phase() == SetPhase::incomplete; }

  SetDrain drain;
  wire::SetPolicyT policy{};            // of the latest offer that has one
  redundancy::Protection protection{};  // decided with is_due
  std::optional<bool> is_due{};         // it is to be stored: decided when it was whole for the first time
  std::optional<SetProtection> encoding{};
  std::optional<CachedSet> flush{};  // it is in the caches, and to be stored: agents are to offer it again
};

// All of them, also by name. References stay valid until their row is taken out.
class SetRows {
 public:
  using Map = std::map<uint64_t, SetRow>;

  // The next number is the row's.
  SetRow& add(const std::string& name, const CoordinatorOptions& options, SetDrain::Time now) {
    const uint64_t id = ++last_;
    ids_.emplace(name, id);
    return rows_.try_emplace(id, id, name, options, now).first->second;
  }
  Map::node_type take(uint64_t id) {
    auto row = rows_.extract(id);
    if (row) ids_.erase(row.mapped().drain.name());
    return row;
  }

  // Null: there is none.
  SetRow* find(uint64_t id) {
    const auto row = rows_.find(id);
    return row == rows_.end() ? nullptr : &row->second;
  }
  const SetRow* find(uint64_t id) const { return const_cast<SetRows*>(this)->find(id); }
  SetRow* find(const std::string& name) {
    const auto id = ids_.find(name);
    return id == ids_.end() ? nullptr : find(id->second);
  }
  template <class Test>
  SetRow* first(const Test& test) {
    const auto row = std::ranges::find_if(rows_, [&](const auto& one) { return test(one.second); });
    return row == rows_.end() ? nullptr : &row->second;
  }
  template <class Test>
  const SetRow* first(const Test& test) const {
    return const_cast<SetRows*>(this)->first(test);
  }
  SetRow& at(uint64_t id) { return rows_.at(id); }
  const SetRow& at(uint64_t id) const { return rows_.at(id); }

  // `what` of each that passes the test at the call, and is still there when its turn comes; it may take out any.
  template <class Test, class What>
  void for_each(const Test& test, const What& what) {
    std::vector<uint64_t> ids;
    for (const auto& [id, row] : rows_)
      if (test(row)) ids.push_back(id);
    for (const uint64_t id : ids)
      if (SetRow* const row = find(id)) what(*row);
  }

  bool empty() const { return rows_.empty(); }
  Map::const_iterator begin() const { return rows_.begin(); }  // oldest first
  Map::const_iterator end() const { return rows_.end(); }

 private:
  Map rows_;
  std::unordered_map<std::string, uint64_t> ids_;  // by name
  uint64_t last_ = 0;
};

}  // namespace forebay::job
