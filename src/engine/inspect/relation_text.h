// Relations between variables as people read them. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/pack/relations.h"

namespace forebay::engine {

// "x ~ 0.5 y - 2 z^2", one for each: variable groups by the shortest names that tell them apart. Names are as files
// have them.
std::vector<std::string> relation_texts(std::span<const NamedRelation> relations);

// What a relation is of: "values", or "changes" from cell to cell.
const char* kind_text(codec::RelationKind kind);

}  // namespace forebay::engine
