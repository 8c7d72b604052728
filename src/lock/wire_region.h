// Regions on the wire (docs/wire.md, "Regions"). Pure.
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "fabric/varint.h"
#include "lock/region.h"

namespace forebay::lock::wire {

using fabric::put_text, fabric::put_varint, fabric::Reader, fabric::unzigzag, fabric::zigzag;

void put_region(Bytes& to, const Region& region);

// limit if it has more than `max_terms` terms, which is found before anything is allocated; corrupt if it is not a
// region.
Result<Region> read_region(Reader& from, uint64_t max_terms);

}  // namespace forebay::lock::wire
