// What was held for a file is put into it, wholly or not at all.
#pragma once

#include <cstdint>

#include "io/hdf5/held_bytes.h"

namespace forebay::hdf5 {

struct PutHeld {
  int failure = 0;          // errno of what failed first, or 0: all is there
  bool is_damaged = false;  // after a failure: the file could not be put back as it was
};

// Makes the file `new_size` bytes long, and puts in what is held; at first what lies after `old_size`, where the file
// ended, then what replaces bytes, its beginning last. If anything fails, the replaced bytes, which are kept in memory
// until then, are put back, and the file ends at `old_size` again. Not of use against a kill in between.
PutHeld put_held(int fd, const HeldBytes& held, uint64_t old_size, uint64_t new_size);

// Makes the file end at `old_size` again. Should that fail, there are bytes after the end that HDF5 knows, which harm
// nobody.
void cut_back(int fd, uint64_t old_size);

}  // namespace forebay::hdf5
