// From record to record, checking what an index does not pin.
#pragma once

#include <cstdint>

#include "base/byte_source.h"
#include "base/error.h"
#include "container/container.h"
#include "container/record.h"

namespace forebay::container {

// The records of a part with this id and index, from its head at `begin` to its index at `end`: as
// Reader::verify_structure().
Result<void> walk_part(const ByteSource& source, const Index& index, uint64_t id, uint64_t begin, uint64_t end);

// The meta of `record`, if all of it and of the record's header agrees with frame `number` of `index`; corrupt if not.
Result<Bytes> read_frame_meta(const ByteSource& source, const FoundRecord& record, const Index& index, uint32_t number);

}  // namespace forebay::container
