// What every operation of the engine takes, and how it tells how far it is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"

namespace forebay::engine {

struct Progress {
  uint64_t done_bytes = 0, total_bytes = 0;  // raw bytes
};

// Called now and then, from the thread that called the operation.
using ProgressFn = std::function<void(const Progress&)>;

struct Resources {
  uint64_t memory_bytes = 0;  // the budget for everything the operation allocates; 0: a quarter of the machine's memory
  unsigned threads = 0;       // computing threads; 0: one per core
  ProgressFn progress;        // may be empty

  Resources resolved() const;  // with the zeros replaced
};

// The part of a budget that pays for the process itself: code, stacks, allocator slack. What remains is for buffers;
// limit, naming the smallest budget that works, if nothing does.
Result<uint64_t> buffer_bytes(uint64_t memory_bytes);

// Whether the shell pattern `glob` matches all of `name`; '*' also matches '/'. An empty list of globs matches
// anything.
bool matches_any(const std::vector<std::string>& globs, const std::string& name);

}  // namespace forebay::engine
