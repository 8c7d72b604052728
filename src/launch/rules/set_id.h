// What tells sets of a rule apart, and which of two labels is the later one. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "launch/rules/rule.h"

namespace forebay::launch::rules {

struct SetId {
  Words series{};        // the words that its members share
  std::string label;     // {set}; empty where the rule has none
  uint64_t version = 1;  // counted by completion: a label that is written again
  auto operator<=>(const SetId&) const = default;
  bool operator==(const SetId&) const = default;
};

// "kh:00012", "*#2": as messages have it. The label * stands for a set that is written in place.
std::string to_string(const SetId& id);

// The name for a store and a stage: the words and the label, joined by "_", and the version from the second on:
// "kh_00012", "md-v2". `otherwise` where there is neither word nor label. Everything but letters, digits, '.', '-' and
// '_' becomes '_'.
std::string name_of(const SetId& id, std::string_view otherwise);

// The label without leading zeros, where it is a number: what {step} stands for.
std::string step_text(std::string_view label);

// Whether both are the same label, written with another number of leading zeros or not.
bool is_same_label(std::string_view one, std::string_view other);

// The order of labels where nothing else is known: decimal numbers by value, dates and others by the numbers in them,
// left to right. unordered where one is a number or a date and the other is not, or both are words.
std::partial_ordering compare_labels(std::string_view one, std::string_view other);

}  // namespace forebay::launch::rules
