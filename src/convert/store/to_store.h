// A run as sets of a store, as its program would have written them with the method FOREBAY: a set for each step, in it
// a file of process groups for each rank.
#pragma once

#include <cstdint>

#include "convert/plan/converted.h"
#include "convert/plan/make_plan.h"
#include "convert/sink/sink_options.h"

namespace forebay::convert {

// The target is a store, which is made if it is not there. What ranks wrote of a step is staged beside it, and packed.
// Each step is durable when the next one is begun; an error leaves those before it. exists if the store has a set of
// such a name already; limit if what a rank wrote of a step does not fit into
// `memory_bytes`; packing takes half of SinkOptions::memory_bytes, when these are not needed any more; errors of
// make_plan(), of reading, and of engine::pack().
Result<Converted> convert_to_store(const view::Run& run, const Wish& wish, const SinkOptions& options,
                                   uint64_t memory_bytes);

}  // namespace forebay::convert
