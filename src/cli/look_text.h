// What a rule would take in a directory, as verbs show it.
#pragma once

#include "cli/json.h"
#include "job/recipes/look.h"

namespace forebay::cli {

Json json_look(const job::Look& look);
void print_look(const job::Look& look);

}  // namespace forebay::cli
