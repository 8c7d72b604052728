// How an intercepted function finds what it stands for. Each exported symbol is a trampoline that jumps to its slot's
// target; the first call finds the target.
#pragma once

namespace forebay::mpiio {

// The trampolines know this layout.
struct Slot {
  void* target;       // null until the first call
  const char* name;   // the symbol that this slot stands behind
  const char* entry;  // what the modules call it: the manglings of a Fortran name share one
};

// What the process calls MPI, and the module made for it.
struct Mpi {
  void* library = nullptr;  // to look up what the library defines itself
  void* module = nullptr;   // null: everything passes through
};

// Finds the MPI library among those that are loaded, whether the program was linked with it or, as in Python, loaded it
// later. Thread-safe.
const Mpi& find_mpi();

}  // namespace forebay::mpiio
