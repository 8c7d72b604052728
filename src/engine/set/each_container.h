// The containers of a set, one after the other: what an operation takes of memory follows from the largest of them, not
// from how many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/options.h"
#include "engine/set/set.h"
#include "store/store.h"

namespace forebay::engine {

// Opens containers of one set. Thread-safe.
class ContainerOpener {
 public:
  // `set`, whose manifest can be read, must outlive this. `memory_bytes` pays for the indices of the sets that this one
  // refers to, too.
  ContainerOpener(const store::SetInfo& set, uint64_t memory_bytes);

  // The memory that those leave.
  uint64_t memory_bytes() const { return memory_bytes_; }

  // The container `number` of the manifest, whose index may take `memory_bytes`. Errors as of open_listed().
  Result<OpenContainer> open(size_t number, uint64_t memory_bytes) const;

 private:
  const store::SetInfo& set_;
  uint64_t memory_bytes_;
  std::shared_ptr<ParentFrames> parents_;
};

// What an open container holds, with the frames that it keeps for others that are predicted from them.
uint64_t standing_memory(const OpenContainer& container);

// Called with a container's number in the manifest; with the open container, or why it could not be opened; and with
// the memory that is left for its frames. Returns how many bytes it keeps until the end.
using VisitContainer =
    std::function<Result<uint64_t>(size_t number, Result<OpenContainer> container, uint64_t memory_bytes)>;

// Calls `visit` for the containers `numbers` of the set in this order, from the calling thread; its first error ends
// it. While one is visited the next ones are opened by other threads, as far as a quarter of the memory holds them; a
// container or frames that need that quarter get it. `resources` are resolved, and their memory is for buffers alone.
// limit if what is kept takes all of it.
Result<void> for_each_container(const store::SetInfo& set, std::span<const size_t> numbers, const Resources& resources,
                                const VisitContainer& visit);

// 0 to the number of containers - 1.
std::vector<size_t> all_containers(const store::Manifest& manifest);

// The numbers of those that may hold files whose names match one of the shell patterns, as matches_any() has it, or
// files of a rank, as far as the manifest tells.
std::vector<size_t> containers_with_names(const store::Manifest& manifest, const std::vector<std::string>& globs);
std::vector<size_t> containers_of_rank(const store::Manifest& manifest, uint32_t rank);

}  // namespace forebay::engine
