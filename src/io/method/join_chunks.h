// Ranks that belong together join their blocks of global arrays before these are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/group/failure.h"
#include "io/group/process_group.h"
#include "io/method/communicator.h"

namespace forebay::io {

struct JoinSettings {
  uint64_t chunk_bytes = 0;  // blocks of so many bytes are large enough, and stay
  uint64_t spare_bytes = 0;  // so much may be held here beside the steps
  bool may_join = true;      // otherwise nothing joins at any rank
};

// The bytes of joined blocks.
using JoinedBytes = std::vector<std::unique_ptr<std::byte[]>>;

// No message between two ranks is longer.
inline constexpr uint64_t kJoinMessageBytes = uint64_t{256} << 10;

// Collective: blocks of all ranks that plan_joins() joins become one block of the first rank, in the place of the first
// one that this rank had of them, or else behind its others; the ranks that had them no longer do. Values, statistics
// and histograms are those of all elements together. The joined blocks borrow what is returned; what they do not fit
// into stays where it is, and everything does if the ranks have no memory to talk about it. Fails as the communicator
// does, and at no other time.
Outcome<JoinedBytes> join_chunks(Communicator& ranks, std::span<ProcessGroup> steps, const JoinSettings& settings);

}  // namespace forebay::io
