// ls NAME: the files and variables of one set, as tables and as JSON. The containers are opened one after the other,
// and twice: a table's columns are as wide as the last row needs, and a document that was begun cannot become an error.
#pragma once

#include "cli/json_stream.h"
#include "engine/options.h"
#include "store/store.h"

namespace forebay::cli {

// Whether all containers of the set can be opened. `resources` as for_each_container() wants them, here and below.
Result<void> check_containers(const store::SetInfo& set, const engine::Resources& resources);

// Writes one element for each file. How many variables they have.
Result<uint64_t> stream_files(const store::SetInfo& set, bool with_variables, const engine::Resources& resources,
                              JsonStream& stream);

Result<void> print_files(const store::SetInfo& set, const engine::Resources& resources);
// Whether there are any; if not, nothing is printed.
Result<bool> print_variables(const store::SetInfo& set, const engine::Resources& resources);

}  // namespace forebay::cli
