#include "cli/allocator.h"

#include <cstdint>
#include <cstdlib>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace forebay::cli {
namespace {

constexpr uintptr_t kHugePage = 2 << 20;
constexpr int kHeapStep = 32 << 20;

// Freed buffers stay with the process, so that the next frame needs no new pages from the kernel; and in one arena, or
// each thread would keep some of its own.
void keep_freed_memory() {
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that it takes
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

// The first step of the heap is large and asks for huge pages: a few hundred faults instead of many thousand. Address
// space is all that it costs until it is used.
void begin_heap_with_huge_pages() {
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(sbrk(0)) + kHugePage - 1) / kHugePage * kHugePage;
  mallopt(M_TOP_PAD, kHeapStep);
  void* volatile block = std::malloc(kHeapStep / 2);  // volatile: or the compiler leaves the pair out
  std::free(block);
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0)) / kHugePage * kHugePage;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // only a hint
  mallopt(M_TOP_PAD, 1 << 20);
}

}  // namespace

void set_up_allocator() {
  keep_freed_memory();
  begin_heap_with_huge_pages();
}

}  // namespace forebay::cli
