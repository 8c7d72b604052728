// The order of sets of which nothing is known but names and times: of a directory that nobody watched. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "launch/rules/rule.h"
#include "launch/rules/set_id.h"

namespace forebay::launch::rules {

struct DatedSet {
  SetId id;
  int64_t last_ns = 0;  // wall clock: when a file of it was written last
};

struct SetOrder {
  std::vector<size_t> order;       // indices, the oldest first
  std::vector<std::string> notes;  // what is doubtful about it
};

// By time, since counters go round and words have no place among numbers; by names where a time lies in the future, and
// names have an order.
SetOrder order_of(const Rule& rule, std::span<const DatedSet> sets, int64_t now_ns);

}  // namespace forebay::launch::rules
