#include "mpiio/preload/dispatch.h"

#include <dlfcn.h>
#include <stdio.h>

namespace forebay::mpiio {
namespace {

// For a function that nobody defines. It cannot raise an error through MPI; 16 is an error class in every MPI.
int missing() { return 16; }

void* target_of(const Slot& slot) {
  const Mpi& mpi = find_mpi();
  if (mpi.module) {
    if (void* entry = dlsym(mpi.module, slot.entry)) return entry;
  }
  if (void* next = dlsym(RTLD_NEXT, slot.name)) return next;
  if (mpi.library) {
    if (void* own = dlsym(mpi.library, slot.name)) return own;
  }
  fprintf(stderr, "forebay: %s is called, but no MPI library that is loaded has it\n", slot.name);
  return reinterpret_cast<void*>(missing);
}

}  // namespace
}  // namespace forebay::mpiio

// Called by a trampoline whose slot is empty. Threads may come here together: they find the same.
extern "C" __attribute__((visibility("hidden"), used)) void* forebay_mpiio_target(forebay::mpiio::Slot* slot) {
  void* target = forebay::mpiio::target_of(*slot);
  __atomic_store_n(&slot->target, target, __ATOMIC_RELEASE);
  return target;
}
