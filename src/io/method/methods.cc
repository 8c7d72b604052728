#include "io/method/methods.h"

#include "io/method/plugin.h"

namespace forebay::io {

std::vector<MethodEntry> own_methods() {
  constexpr const char* kHdf5 = "install Forebay with HDF5, or choose another method";
  return {
      mpi_method("MPI"), posix_method(), mpi_method("MPI_LUSTRE"),      aggregate_method(),         var_merge_method(),
      store_method(),    null_method(),  plugin_method("PHDF5", kHdf5), plugin_method("NC4", kHdf5)};
}

}  // namespace forebay::io
