// Regions on the wire (docs/wire.md, "Regions"). Pure.
#pragma once

#include "base/bytes.h"
#include "base/cursor.h"
#include "base/error.h"
#include "lock/region.h"

namespace forebay::lock::wire {

void put_region(Bytes& to, const Region& region);

// limit if it has more than `max_terms` terms, which is found before anything is allocated; corrupt if it is not a
// region.
Result<Region> read_region(Cursor& from, uint64_t max_terms);

}  // namespace forebay::lock::wire
