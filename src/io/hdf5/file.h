// The HDF5 file, as rank 0 makes and changes it: everything but the bytes of arrays, which all ranks write into the
// places that the library allotted.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <span>
#include <string>

#include "forebay/forebay_method.h"
#include "io/hdf5/guarded_file.h"
#include "io/hdf5/plan.h"

namespace forebay::hdf5 {

struct Fault {
  int code = FOREBAY_METHOD_WRITE;
  std::string what;
};

// From errno.
Fault system_fault(const char* call, const std::string& path);

template <class T>
using Outcome = std::expected<T, Fault>;

// What an existing file says of itself; NOT_FOUND if there is none, INVALID_DATA if no method of Forebay wrote it.
Outcome<forebay_method_standing> inspect(const std::string& path);

struct Structure {
  std::map<const Dataset*, uint64_t> places;  // where in the file the bytes of an array begin; none if it is empty
  std::string refused;                        // the first attribute that could not be written, and why; or empty
};

// Adds the datasets of a plan and the attributes of rank 0 to a file that is called `path`, and closes it. It is made
// new if `is_new`. An attribute whose name is empty, which the library does not have, is left out. With `netcdf`, the
// file is one of netCDF-4 as well: arrays have dimensions dim_N of N elements, strings are arrays of characters.
Outcome<Structure> write_structure(const GuardedFile& file, const std::string& path, bool is_new, bool netcdf,
                                   const Plan& plan, const forebay_method_standing& standing,
                                   std::span<const forebay_method_step> steps);

}  // namespace forebay::hdf5
