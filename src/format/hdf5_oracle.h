// What libhdf5 says about a file, to compare the HDF5 reader with. Of the tests only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/layout.h"

namespace forebay::format {

// The variables of the HDF5 file at `path` that have storage inside the file, as libhdf5's API reports them, by path;
// all offsets count from the start of the file. Fails the test if the file cannot be opened.
std::map<std::string, Variable> ask_libhdf5(const std::string& path);

// Expects read_layout() to find in the file at `path` what ask_libhdf5() finds, and nothing else, with no remark.
// Returns how many variables there are.
size_t expect_agreement(const std::string& path);

}  // namespace forebay::format
