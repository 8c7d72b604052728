// What the stored arrays of a set mean, and the arrays that follow: the one place where stored values become the values
// that are read (docs/decisions/0067-holes.md).
#pragma once

#include "view/place/recogniser.h"

namespace forebay::view {

// Finds the meanings of `arrays.stored`: as the catalogues have them, and of containers that were written before these
// had any, from the attributes of some files; and gives arrays, blocks and characteristics the type and the bounds of
// what is read. Between Arrays::add() and Arrays::finish(). Attributes that cannot be read say nothing.
void apply_meanings(const SetLook& look, Arrays& arrays);

// The same where what is stored is to be read: bounds that are of meant values go.
void keep_stored(const engine::OpenSet& set, Arrays& arrays);

}  // namespace forebay::view
