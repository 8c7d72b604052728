// A conversion from begin to end.
#pragma once

#include "convert/drive/formats.h"
#include "convert/plan/make_plan.h"

namespace forebay::convert {

// Plans, reads and writes: while one batch of pieces is written, the next one is read, and the two have at most
// `memory_bytes` together, but one piece each. Errors: of planning, of reading (a part that is damaged ends it:
// corrupt, naming array, step, rank and frame), and of the sink. On errors nothing is left of the target. Nothing is
// written, either, if Plan::meanings_differ and Wish has neither is_meant nor keeps_stored: then the run is to be
// opened for what values mean.
Result<Converted> convert(const view::Run& run, const Wish& wish, const Format& format, const SinkOptions& options,
                          uint64_t memory_bytes);

}  // namespace forebay::convert
