// A run as a BP file of ADIOS 1.x (version 3): the blocks of ranks stay what they are.
#pragma once

#include <cstdint>

#include "convert/plan/converted.h"
#include "convert/plan/make_plan.h"
#include "convert/sink/sink_options.h"

namespace forebay::convert {

// Values are read in batches as pump() does, and written where they will lie; of what is in the file, only its indices
// are kept in memory. Errors of make_plan(), of reading and of writing; limit where BP's own limits are passed.
Result<Converted> convert_to_bp(const view::Run& run, const Wish& wish, const SinkOptions& options,
                                uint64_t memory_bytes);

}  // namespace forebay::convert
