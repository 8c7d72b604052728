// ls NAME: the files and variables of one set, as tables and as JSON.
#pragma once

#include "cli/json.h"
#include "engine/set/set.h"

namespace forebay::cli {

Json json_files(const engine::OpenSet& set, bool with_variables);

void print_files(const engine::OpenSet& set);
void print_variables(const engine::OpenSet& set);

}  // namespace forebay::cli
