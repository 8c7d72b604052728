#include "io/hdf5/dimensions.h"

#include <cstdio>
#include <string>

#include <hdf5_hl.h>

#include "io/hdf5/types.h"

namespace forebay::hdf5 {
namespace {

// A dataset that is a dimension only. NetCDF knows it by the text of its attribute NAME, which has a fixed form.
Id make_scale(hid_t file, const std::string& name, uint64_t extent) {
  const hsize_t extents = extent;
  const Id space(H5Screate_simple(1, &extents, nullptr));
  const Id properties(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  // Nothing of it is ever written: it takes no room.
  H5Pset_alloc_time(properties, H5D_ALLOC_TIME_LATE);
  Id scale(H5Dcreate2(file, name.c_str(), H5T_IEEE_F32BE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
  char text[96];
  std::snprintf(text, sizeof text, "This is a netCDF dimension but not a netCDF variable. %9lu",
                static_cast<unsigned long>(extent));
  if (scale && H5DSset_scale(scale, text) < 0) return Id();
  return scale;
}

}  // namespace

bool Dimensions::attach(hid_t dataset, std::span<const uint64_t> shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    const std::string name = "dim_" + std::to_string(shape[i]);
    const bool is_there = H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0;
    const Id scale = is_there ? Id(H5Dopen2(file_, name.c_str(), H5P_DEFAULT)) : make_scale(file_, name, shape[i]);
    if (!scale || H5DSattach_scale(dataset, scale, static_cast<unsigned>(i)) < 0) return false;
  }
  return true;
}

}  // namespace forebay::hdf5
