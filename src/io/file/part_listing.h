// One process group as a listing. Pure.
#pragma once

#include <cstdint>
#include <span>

#include "container/characteristics.h"
#include "io/file/listing.h"
#include "io/group/process_group.h"

namespace forebay::io {

// Of `group`, whose blocks have these characteristics, as a part of the container `container_id`. Place, sizes and hash
// are those of `part`; the rest of it is filled in.
Listing list_process_group(const ProcessGroup& group, std::span<const container::Characteristics> characteristics,
                           uint64_t container_id, ListedPart part);

}  // namespace forebay::io
