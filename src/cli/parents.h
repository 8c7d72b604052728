// How verbs tell what of a set lies in other sets.
#pragma once

#include <span>
#include <string>

#include "cli/json.h"
#include "store/store.h"

namespace forebay::cli {

// "1.5 GiB in 400 frames of DD0002, 12 MiB in 3 frames of DD0005". Names are as they are: see printable().
std::string parents_text(std::span<const store::ParentEntry> parents);

Json json_parents(std::span<const store::ParentEntry> parents);

}  // namespace forebay::cli
