// Places that a user's layout gives.
#pragma once

#include <span>

#include "view/place/layout_text.h"
#include "view/place/recogniser.h"

namespace forebay::view {

// Takes the stored arrays that the layout names. invalid_argument, naming line and array, if the set does not agree
// with it: no variable matches, blocks are missing or given twice, lie outside, or do not say where they lie. Errors of
// reading.
Result<void> apply_layout(const SetLook& look, std::span<const LayoutArray> layout, Recognised& found);

}  // namespace forebay::view
