#include "checkpoint.h"

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

#include <hdf5.h>

namespace mini_sim {
namespace {

constexpr const char* kNames[kFields] = {"Density",     "MomentumX",     "MomentumY",     "MomentumZ",
                                         "TotalEnergy", "EjectaDensity", "AmbientDensity"};

void check(herr_t status, const char* what) {
  if (status < 0) throw std::runtime_error(std::string("HDF5 cannot ") + what);
}

// An open HDF5 object and the function that closes it.
class Handle {
 public:
  Handle(hid_t id, herr_t (*closer)(hid_t), const char* what) : id_(id), close_(closer) {
    check(id < 0 ? -1 : 0, what);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

  // Closes now, and reports what the destructor could not.
  void close() { check(close_(std::exchange(id_, -1)), "write the file"); }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

Handle space_of(int rank, const hsize_t* dims) {
  return {H5Screate_simple(rank, dims, nullptr), H5Sclose, "create a dataspace"};
}

void write_attribute(hid_t object, const char* name, hid_t type, const void* values, hsize_t count) {
  const Handle space = space_of(1, &count);
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         "create an attribute");
  check(H5Awrite(attribute, type, values), "write an attribute");
}

void write_fields(hid_t group, const Block& block, const CheckpointOptions& options) {
  const Triple all = block.cells_with_ghosts(), owned = block.cells();
  const hsize_t in_memory[] = {hsize_t(all[2]), hsize_t(all[1]), hsize_t(all[0])};
  const hsize_t inner[] = {hsize_t(owned[2]), hsize_t(owned[1]), hsize_t(owned[0])};
  const hsize_t border[] = {kGhosts, kGhosts, kGhosts};
  const hid_t type = options.single_precision ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;

  const Handle memory = space_of(3, in_memory);
  const Handle file = space_of(3, options.ghosts ? in_memory : inner);
  if (!options.ghosts)
    check(H5Sselect_hyperslab(memory, H5S_SELECT_SET, border, nullptr, inner, nullptr), "select the cells");
  for (int f = 0; f < kFields; ++f) {
    const Handle data(H5Dcreate2(group, kNames[f], type, file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
                      "create a dataset");
    check(H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, file, H5P_DEFAULT, block.field(f)), "write a dataset");
  }
}

void write_file(const std::string& path, const Block& block, const Moment& moment, const CheckpointOptions& options) {
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "create the file");
  const int ranks = block.ranks(), cells = block.global_cells(), ghosts = options.ghosts ? kGhosts : 0;
  write_attribute(file, "Time", H5T_NATIVE_DOUBLE, &moment.time, 1);
  write_attribute(file, "Step", H5T_NATIVE_INT, &moment.step, 1);
  write_attribute(file, "Ranks", H5T_NATIVE_INT, &ranks, 1);
  write_attribute(file, "CellsPerSide", H5T_NATIVE_INT, &cells, 1);
  {
    char name[32];
    std::snprintf(name, sizeof name, "/Block%08d", block.rank());
    const Handle group(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "create a group");
    write_attribute(group, "FirstCell", H5T_NATIVE_INT, block.first().data(), 3);
    write_attribute(group, "Cells", H5T_NATIVE_INT, block.cells().data(), 3);
    write_attribute(group, "GhostZones", H5T_NATIVE_INT, &ghosts, 1);
    write_fields(group, block, options);
  }
  file.close();
}

}  // namespace

void write_checkpoint(const Block& block, int dump, const Moment& moment, const CheckpointOptions& options) {
  char set[32], name[64], temporary[80];
  std::snprintf(set, sizeof set, "dump_%04d", dump);
  std::snprintf(name, sizeof name, "%s.rank%04d.h5", set, block.rank());
  std::snprintf(temporary, sizeof temporary, ".%s.tmp", name);
  const std::filesystem::path directory = options.directory / set;
  std::filesystem::create_directories(directory);
  const std::filesystem::path unfinished = directory / temporary;
  write_file(unfinished.string(), block, moment, options);
  std::filesystem::rename(unfinished, directory / name);
}

}  // namespace mini_sim
