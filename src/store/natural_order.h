// In which order sets were written, as far as their names and the times of their files tell: where nobody has seen them
// become complete. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::store {

struct NamedSet {
  std::string name;
  std::optional<int64_t> time_ns = {};  // when the newest of its files was modified, since 1970
};

struct NaturalOrder {
  std::vector<size_t> oldest_first;  // indices of the sets
  bool is_by_times = false;          // else by names
  std::string remark;                // what the user should look at; empty: nothing
};

// Names that differ in numbers only are in the order of these numbers, the first that differs counting: whole ones,
// decimals (0.9 before 1.1), with exponents (2e-05) and signs; dates and times as 2000-01-31 and 12:00:05 are several
// numbers. Where names are not so, or say otherwise than times do, times decide: unless one lies in the future, or all
// are within two seconds. Of two sets that stay equal the one whose name is less comes first.
NaturalOrder natural_order(std::span<const NamedSet> sets, int64_t now_ns);

// Whether both names differ in numbers only, and those of `a` say that it comes before `b`.
bool is_before(std::string_view a, std::string_view b);

// Whether the name tells a time rather than a step: its last number is a decimal, has an exponent or is part of a date,
// or it says what its numbers are, one of them a decimal: t=0.5,cells=64.
bool tells_a_time(std::string_view name);

}  // namespace forebay::store
