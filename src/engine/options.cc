#include "engine/options.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

namespace forebay::engine {

Resources Resources::resolved() const {
  Resources result = *this;
  if (result.memory_bytes == 0)
    result.memory_bytes =
        static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 4;
  if (result.threads == 0) result.threads = std::max(1u, std::thread::hardware_concurrency());
  return result;
}

Result<uint64_t> buffer_bytes(uint64_t memory_bytes) {
  constexpr uint64_t kProcess = 24 << 20;  // measured: 14 to 20 MiB resident before the first buffer
  constexpr uint64_t kSmallest = 64 << 20;
  if (memory_bytes < kSmallest)
    return fail(ErrorKind::limit, fmt::format("a memory budget of {} bytes is too small", memory_bytes), {}, {},
                fmt::format("give at least {} MiB", kSmallest >> 20));
  return memory_bytes - kProcess;
}

bool matches_any(const std::vector<std::string>& globs, const std::string& name) {
  return globs.empty() || std::ranges::any_of(globs, [&](const std::string& glob) {
           return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
         });
}

}  // namespace forebay::engine
