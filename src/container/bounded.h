// Decoding what is hostile within memory that its own size bounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "container/column.h"
#include "container/unfolding.h"

namespace forebay::container {

// Runs decode(budget, kept), which returns Result<void>, under a budget of `max_bytes` and of what `payload`, which it
// pays for, may unfold to: limit beyond the former, corrupt beyond the latter. The leases in `kept` end with the call.
template <class Decode>
Result<void> decode_bounded(std::span<const std::byte> payload, uint64_t max_bytes, Decode decode) {
  const uint64_t most = unfolding_limit(payload.size());
  MemoryBudget budget(std::min(max_bytes, most));
  std::vector<Lease> kept;
  const auto run = [&]() -> Result<void> {
    FOREBAY_TRY(const Lease own, ColumnReader(budget).lease(payload.size(), 1));
    return decode(budget, kept);
  };
  auto done = run();
  if (!done && done.error().kind == ErrorKind::limit && most < max_bytes)
    return fail(ErrorKind::corrupt, "index: it would unfold to far more than its bytes can hold");
  return done;
}

}  // namespace forebay::container
