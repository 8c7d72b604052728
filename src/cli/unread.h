// Why a set has no arrays: its files, and what they look like.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "engine/inspect/unread.h"

namespace forebay::cli {

// "no file of DD0008 has arrays in a format that Forebay reads (...)"
std::string no_arrays_text(const std::string& set);

// Prints that, a table of the files and what can be done. `resources` are as they were given.
Result<void> print_no_arrays(const store::SetInfo& set, const engine::Resources& resources);

// {"format", "looks_like", "files", "bytes", "example"}, and a list of them.
Json json_unread(const engine::UnreadFiles& kind);
Result<Json> json_no_arrays(const store::SetInfo& set, const engine::Resources& resources);

// no_arrays_text() and what the files look like. Errors as of engine::unread_files().
Result<std::string> why_no_arrays(const store::SetInfo& set, const engine::Resources& resources);

}  // namespace forebay::cli
