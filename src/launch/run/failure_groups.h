// The failure groups of nodes (decision 0037) as people write them. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::launch {

// "KIND=LABEL,...", as in "power=psu1,switch=0", in the order in which they are given. invalid_argument for anything
// else, a kind that is given twice, and kinds and labels that are no words of letters, digits and ._-+:/ of at most 64
// bytes. The kind "node" tells agents of one machine apart; without it each machine is a node.
Result<std::vector<std::string>> parse_failure_groups(std::string_view text);

// Those of a job's nodes: a line for each, "HOST KIND=LABEL[,KIND=LABEL...]"; what follows '#', and empty lines, do not
// count. invalid_argument, with `path` and the line, for anything else, and for a host that is named twice.
Result<std::map<std::string, std::string>> parse_failure_group_file(std::string_view text, const std::string& path);

}  // namespace forebay::launch
