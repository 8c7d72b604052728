// Moves bytes between memory and the part of a file that a view shows: the layer's own read and write engine. It
// gathers and scatters with preadv and pwritev, joins what adjoins in the file, and copies through a bounded buffer
// where pieces of memory are small. It never writes a byte that is not asked for, unless told to sieve.
#pragma once

#include <cstdint>
#include <functional>

#include "base/error.h"
#include "mpiio/pattern.h"
#include "mpiio/view.h"

namespace forebay::lock::mpiio {

// `count` elements of `datatype` at `base`. The bytes are not owned.
struct Memory {
  void* base = nullptr;  // only read by writes
  Pattern datatype;
  uint64_t count = 0;
  uint64_t size() const { return count * datatype.size(); }
};

// Asked before each system call, which moves at most kCallBytes; an error ends the transfer. The lock is kept by it.
using BeforeCall = std::function<Result<void>()>;

inline constexpr uint64_t kCallBytes = 8u << 20;

// What to do with holes between pieces when writing.
enum class Sieve : uint8_t {
  never,  // write each piece by itself
  holes,  // where pieces lie near each other read a block, change the pieces, write it back: the sieved_region() of
          // sieve.h must be locked exclusively, and the file open for reading, too
};

// Writes all of `memory` at `data_begin`; returns the bytes written, which is all of them unless there is an error.
Result<uint64_t> write(int fd, const View& view, uint64_t data_begin, const Memory& memory, Sieve sieve,
                       const BeforeCall& before_call);

// Fills `memory` from `data_begin` on, up to the end of the file; returns the bytes read, in the order of the data.
Result<uint64_t> read(int fd, const View& view, uint64_t data_begin, const Memory& memory,
                      const BeforeCall& before_call);

}  // namespace forebay::lock::mpiio
