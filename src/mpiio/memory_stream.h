// The pieces of memory behind a transfer, in the order of its data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sys/uio.h>

#include "mpiio/pattern.h"
#include "mpiio/transfer.h"

namespace forebay::lock::mpiio {

class MemoryStream {
 public:
  explicit MemoryStream(const Memory& memory);

  // Whether pieces are large enough to hand them to the system one by one; else copying them costs less.
  bool gathers() const { return gathers_; }

  // The next bytes, at most `most` of them, as at most IOV_MAX pieces. Returns how many bytes they have.
  uint64_t gather(uint64_t most, std::vector<iovec>& pieces);

  // The next `count` bytes, copied to `to`, or from `from`.
  void copy_to(std::byte* to, uint64_t count);
  void copy_from(const std::byte* from, uint64_t count);

 private:
  template <class Copy>
  void each(uint64_t count, Copy copy);

  Cursor cursor_;
  Run run_;            // pieces that are left of the innermost loop,
  uint64_t used_ = 0;  // of which so many bytes of the first one are used
  bool gathers_ = false;
};

// Pieces of memory of this size on average are given to the system as they are: below, a copy is cheaper than what an
// element of an iovec costs in the kernel.
inline constexpr uint64_t kLargePiece = 512;

}  // namespace forebay::lock::mpiio
