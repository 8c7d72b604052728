// Series: which sets of a store belong together (decision 0021).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace forebay::store {

// As is_set_name(), and at most 100 bytes.
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

// "default (3 sets, the newest is DD0008)" for each series but `except`, joined by commas; empty if there is none.
std::string describe_series(std::span<const SetInfo> sets, std::string_view except = {});

}  // namespace forebay::store
