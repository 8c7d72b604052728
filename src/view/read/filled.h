// Whether an array can be as large as it says.
#pragma once

#include <cstddef>
#include <span>

#include "view/read/selection.h"

namespace forebay::view {

// For those who read or write all of a selection, before they begin: that of a selection of a global array of more than
// a GiB the blocks have at least one element in 4096. A shape that a damaged index has wrong, or that somebody made up,
// would be zeros without end otherwise. corrupt; errors of Step::characterised_blocks(), which is asked for such
// selections alone.
Result<void> check_filled(const Step& step, size_t array, const Strided& selection);

// The same for those who read all of the blocks of an array, or one, which are `blocks`: that the file has room for
// them, if that is more than a GiB.
Result<void> check_stored(const Step& step, size_t array, std::span<const Block> blocks);

}  // namespace forebay::view
