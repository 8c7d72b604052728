#include "convert/drive/formats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convert/bp/to_bp.h"
#include "convert/sink/classic_sink.h"
#include "convert/sink/npy_sink.h"
#include "convert/sink/plugin_sink.h"
#include "convert/sink/xdmf_sink.h"
#include "convert/sink/zarr_sink.h"
#include "convert/store/to_store.h"

namespace forebay::convert {
namespace {

constexpr Format kFormats[] = {
    {"npy",
     ".npy",
     "NumPy: a file for one array, a directory of files for several",
     {"NumPy", npy_holds, true, false},
     make_npy_sink},
    {"hdf5", ".h5", "HDF5, which h5py and ParaView read", {"HDF5", hdf5_holds, true, false}, make_hdf5_sink, true},
    {"netcdf", ".nc", "netCDF-4", {"netCDF", netcdf_holds, false, false}, make_hdf5_sink, true},
    {"netcdf3",
     ".cdf",
     "netCDF's classic format, which needs no HDF5",
     {"netCDF's classic format", classic_holds, false, false},
     make_classic_sink,
     true},
    {"xdmf",
     ".xmf",
     "XDMF for ParaView, with an HDF5 file beside it",
     {"XDMF", xdmf_holds, false, false},
     make_xdmf_sink},
    {"zarr",
     ".zarr",
     "Zarr version 3, chunks compressed with zstd",
     {"Zarr", zarr_holds, true, true},
     make_zarr_sink,
     true,
     true},
    {.name = "bp",
     .ending = ".bp",
     .summary = "BP version 3, which ADIOS 1.x and ADIOS2 read",
     .has_attributes = true,
     .convert_blocks = convert_to_bp},
    {.name = "store",
     .ending = ".store",
     .summary = "sets of a store of Forebay, packed, one for each step",
     .has_attributes = true,
     .convert_blocks = convert_to_store},
};

}  // namespace

std::span<const Format> all_formats() { return kFormats; }

Result<const Format*> find_format(std::string_view name, std::string_view target) {
  while (target.size() > 1 && target.ends_with('/')) target.remove_suffix(1);
  std::vector<std::string_view> names;
  for (const Format& format : kFormats) {
    if (name.empty() ? target.ends_with(format.ending) : name == format.name) return &format;
    names.push_back(format.name);
  }
  const std::string what =
      name.empty() ? fmt::format("the ending of '{}' tells no format", target) : fmt::format("'{}' is no format", name);
  return fail(ErrorKind::invalid_argument, what, {}, {}, fmt::format("--format is one of {}", fmt::join(names, ", ")));
}

}  // namespace forebay::convert
