// Series: which sets of a store belong together (decision 0021).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace forebay::store {

// As is_set_name(), and at most 100 bytes out of letters, digits and "._-+=@,".
bool is_series_name(std::string_view name);

// invalid_argument, with the rules, unless it is one.
Result<void> check_series_name(std::string_view name);

// The series of the sets that can be read, by name.
std::vector<std::string> series_in(std::span<const SetInfo> sets);

// Those of the series, in their order, and those that cannot be read: they may be.
std::vector<SetInfo> of_series(std::span<const SetInfo> sets, std::string_view series);

// The series in which "latest" is looked for: `wanted`, if it is not empty, else the only one that there is, else
// kDefaultSeries where there is none. not_found if there are sets, but none of the series that is wanted;
// invalid_argument, naming them, if several are there and none is wanted. `path` is the store's, for messages.
Result<std::string> choose_series(std::span<const SetInfo> sets, std::string_view wanted, const std::string& path);

// The largest place of sets of the series: the next one comes behind it. 0 if there is no such set. Those without an
// ordinal are in the first places.
uint64_t newest_place(std::span<const SetInfo> sets, std::string_view series);

// Whether a word that stands where a set is named asks for a step: "step:40", which no name can be.
bool asks_for_step(std::string_view word);

// The newest of `sets`, which are of one series and in their order, that has the step of such a word as its label.
// not_found if none has; invalid_argument if that is no number.
Result<std::string> find_step(std::span<const SetInfo> sets, std::string_view word, const std::string& path);

// The newest of them, of those that can be read; null: there is none. `sets` in their order.
const SetInfo* newest_of(std::span<const SetInfo> sets, std::string_view series);

// In words, why a set of that name and step looks older than `newest`, behind which it comes in their series; empty if
// it does not. Perhaps it is of another run. Steps tell that if one of them is not just what its set's name has, else
// names (natural_order.h).
std::string why_older(std::string_view name, std::optional<int64_t> step, const Manifest& newest);

// "default (3 sets, the newest is DD0008)" for each series but `except`, joined by commas; empty if there is none.
std::string describe_series(std::span<const SetInfo> sets, std::string_view except = {});

}  // namespace forebay::store
