// A file view: which bytes of the file an MPI process sees, and in what order (MPI 4.0, section 14.3). Pure.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "lock/region.h"
#include "mpiio/pattern.h"

namespace forebay::lock::mpiio {

// "Data offset": a position among the bytes that the view shows, counted from its start.
struct View {
  int64_t displacement = 0;  // bytes from the start of the file
  uint64_t etype_size = 1;   // bytes
  Pattern filetype = Pattern::bytes(1);
};

// Where in the file the data byte at this offset lies. invalid_argument if the filetype shows no bytes.
Result<uint64_t> file_offset(const View& view, uint64_t data_offset);

// The bytes of the file behind the data from `data_begin` to before `data_end`. Errors as Region::add.
Result<Region> region_of(const View& view, uint64_t data_begin, uint64_t data_end);

// How many of the view's data bytes lie before the end of a file of `file_size` bytes: the data offset of its end.
uint64_t data_bytes_before(const View& view, uint64_t file_size);

}  // namespace forebay::lock::mpiio
