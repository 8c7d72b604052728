// How verbs tell what of a set lies in other sets.
#pragma once

#include <span>
#include <string>

#include "cli/json.h"
#include "store/store.h"

namespace forebay::cli {

// "1.5 GiB in 400 frames of DD0002, 12 MiB in 3 frames of DD0005". Names are as they are: see printable().
std::string bases_text(std::span<const store::BaseEntry> bases);

Json json_bases(std::span<const store::BaseEntry> bases);

}  // namespace forebay::cli
