// What libhdf5 says about a file, to compare the HDF5 reader with. Of the tests only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/layout.h"

namespace forebay::format {

// A variable with storage inside the file. Of a chunked one, `chunks` has what each chunk of the grid that has storage
// holds, in C order, and `variable.extents` is empty: where a chunk lies, libhdf5 1.10.8 does not tell reliably
// (H5Dget_chunk_info_by_coord() misses some of extensible arrays) or not in bearable time (H5Dget_chunk_info()), but it
// reads chunks rightly.
struct OracleVariable {
  Variable variable;
  std::vector<Bytes> chunks;
};

// The variables of the HDF5 file at `path`, as libhdf5's API reports them, by path; offsets count from the start of the
// file. Fails the test if the file cannot be opened.
std::map<std::string, OracleVariable> ask_libhdf5(const std::string& path);

// Expects read_layout() to find in the file at `path` what ask_libhdf5() finds, and nothing else, with no remark.
// Returns how many variables there are.
size_t expect_agreement(const std::string& path);

}  // namespace forebay::format
