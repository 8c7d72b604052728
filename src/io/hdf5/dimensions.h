// Dimensions of netCDF-4 in an HDF5 file: for each length one that all arrays share, named dim_N, without coordinates.
#pragma once

#include <cstdint>
#include <span>

#include <hdf5.h>

namespace forebay::hdf5 {

class Dimensions {
 public:
  // Of a file that is open for writing, and may have some.
  explicit Dimensions(hid_t file) : file_(file) {}

  // Gives a dataset its dimensions. No extent may be 0.
  bool attach(hid_t dataset, std::span<const uint64_t> shape);

 private:
  hid_t file_;
};

}  // namespace forebay::hdf5
