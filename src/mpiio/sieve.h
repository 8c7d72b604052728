// When to write pieces together with the holes between them, and what has to be locked then. Pure.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "lock/region.h"
#include "mpiio/view.h"

namespace forebay::lock::mpiio {

// Whether writing these data bytes with Sieve::holes (transfer.h) costs less than writing piece by piece, although it
// reads holes, writes them back, and has to lock them. On a local file system (file_system.h), whose price is the call,
// it does when a block replaces many pieces; elsewhere, where holes cost bandwidth and locks of them concurrency, only
// when holes also take little room. O(pieces), but looks at some thousand pieces at most.
bool sieving_pays(const View& view, uint64_t data_begin, uint64_t data_end, bool local);

// The bytes of the file that a write with Sieve::holes writes: the pieces, and the holes between those that it joins.
// O(pieces). Errors as Region::add.
Result<Region> sieved_region(const View& view, uint64_t data_begin, uint64_t data_end);

}  // namespace forebay::lock::mpiio
