// What a rule would take in a directory, as verbs show it.
#pragma once

#include "cli/json.h"
#include "launch/recipes/look.h"

namespace forebay::cli {

Json json_look(const launch::Look& look);
void print_look(const launch::Look& look);

}  // namespace forebay::cli
