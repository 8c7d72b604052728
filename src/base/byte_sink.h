// Where bytes go that are written front to back: a file, a memory block, later an object of an object store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace forebay {

// Takes bytes in their order. Not thread-safe. A sink that is destroyed before finish() leaves whatever it has taken,
// as far as its kind keeps anything of that.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // What to call it in messages: a path.
  virtual const std::string& name() const = 0;

  virtual uint64_t size() const = 0;  // bytes taken so far

  // Takes the bytes of all `parts`, one part after the other, which may be of any length. no_space or io if they cannot
  // be kept: no call may follow then.
  virtual Result<void> append(std::span<const std::span<const std::byte>> parts) = 0;

  // Makes everything durable and ends the sink: no call may follow. no_space or io if that fails.
  virtual Result<void> finish() = 0;
};

}  // namespace forebay
