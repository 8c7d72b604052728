#include "hdf5_file.h"

#include <cstring>
#include <stdexcept>

namespace mini_sim {
namespace {

constexpr const char* kChecksum = "Checksum";

[[noreturn]] void fail(const std::string& reason) { throw std::runtime_error(reason); }

void check_status(herr_t status, const std::string& what) {
  if (status < 0) fail("HDF5 cannot " + what);
}

Handle space_of(const Dims& dims) {
  return {H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose, "create a dataspace"};
}

Handle without_times() {
  Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "create properties");
  check_status(H5Pset_obj_track_times(properties, false), "leave out times");
  return properties;
}

template <class Value>
uint64_t mixed(uint64_t state, const std::vector<Value>& values) {
  for (const Value& value : values) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    state = (state ^ bits) * 0x100000001b3;
  }
  return state;
}

}  // namespace

Handle::Handle(hid_t id, herr_t (*closer)(hid_t), const char* what) : id_(id), close_(closer) {
  check_status(id < 0 ? -1 : 0, what);
}

void Handle::close() { check_status(close_(std::exchange(id_, -1)), "write the file"); }

void Checksum::add(const std::vector<double>& values) { state_ = mixed(state_, values); }
void Checksum::add(const std::vector<int64_t>& values) { state_ = mixed(state_, values); }

OutputFile::OutputFile(const std::string& path)
    : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "create the file") {}

Handle OutputFile::group(hid_t parent, const char* name) {
  return {H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "create a group"};
}

void OutputFile::attribute(hid_t object, const char* name, const std::vector<double>& values) {
  checksum_.add(values);
  write_attribute(object, name, H5T_NATIVE_DOUBLE, values.data(), values.size());
}

void OutputFile::attribute(hid_t object, const char* name, const std::vector<int64_t>& values) {
  checksum_.add(values);
  write_attribute(object, name, H5T_NATIVE_INT64, values.data(), values.size());
}

void OutputFile::array(hid_t group, const char* name, const Dims& dims, const std::vector<double>& values,
                       bool single_precision) {
  checksum_.add(values);
  write_array(group, name, dims, single_precision ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data());
}

void OutputFile::array(hid_t group, const char* name, const Dims& dims, const std::vector<int64_t>& values) {
  checksum_.add(values);
  write_array(group, name, dims, H5T_STD_I64LE, H5T_NATIVE_INT64, values.data());
}

void OutputFile::close() {
  const int64_t sum = checksum_.value();
  write_attribute(file_, kChecksum, H5T_NATIVE_INT64, &sum, 1);
  file_.close();
}

void OutputFile::write_attribute(hid_t object, const char* name, hid_t type, const void* values, hsize_t count) {
  const Handle space = space_of({count});
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         "create an attribute");
  check_status(H5Awrite(attribute, type, values), "write an attribute");
}

void OutputFile::write_array(hid_t group, const char* name, const Dims& dims, hid_t type, hid_t in_memory,
                             const void* values) {
  const Handle space = space_of(dims), properties = without_times();
  const Handle data(H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose,
                    "create a dataset");
  check_status(H5Dwrite(data, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write a dataset");
}

InputFile::InputFile(const std::string& path)
    : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "open the file") {
  if (H5Aexists(file_, kChecksum) <= 0) fail("it is no checkpoint of this program, or was left unfinished");
}

Handle InputFile::group(hid_t parent, const char* name) {
  return {H5Gopen2(parent, name, H5P_DEFAULT), H5Gclose, ("open the group " + std::string(name)).c_str()};
}

void InputFile::attribute(hid_t object, const char* name, std::vector<double>& values) {
  read_attribute(object, name, H5T_NATIVE_DOUBLE, values.data(), values.size());
  checksum_.add(values);
}

void InputFile::attribute(hid_t object, const char* name, std::vector<int64_t>& values) {
  read_attribute(object, name, H5T_NATIVE_INT64, values.data(), values.size());
  checksum_.add(values);
}

void InputFile::array(hid_t group, const char* name, const Dims& dims, std::vector<double>& values) {
  read_array(group, name, dims, H5T_NATIVE_DOUBLE, values.data());
  checksum_.add(values);
}

void InputFile::array(hid_t group, const char* name, const Dims& dims, std::vector<int64_t>& values) {
  read_array(group, name, dims, H5T_NATIVE_INT64, values.data());
  checksum_.add(values);
}

void InputFile::check() {
  int64_t stored = 0;
  read_attribute(file_, kChecksum, H5T_NATIVE_INT64, &stored, 1);
  if (stored != checksum_.value()) fail("its values do not match their checksum");
}

void InputFile::read_attribute(hid_t object, const char* name, hid_t type, void* values, size_t count) {
  const std::string what = std::string("read the attribute ") + name;
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose, what.c_str());
  const Handle space(H5Aget_space(attribute), H5Sclose, what.c_str());
  if (H5Sget_simple_extent_npoints(space) != static_cast<hssize_t>(count))
    fail(std::string("the attribute ") + name + " has another size than it should have");
  check_status(H5Aread(attribute, type, values), what);
}

void InputFile::read_array(hid_t group, const char* name, const Dims& dims, hid_t type, void* values) {
  const std::string what = std::string("read the dataset ") + name;
  const Handle data(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose, what.c_str());
  const Handle space(H5Dget_space(data), H5Sclose, what.c_str());
  Dims found(dims.size());
  if (H5Sget_simple_extent_ndims(space) != static_cast<int>(dims.size()) ||
      H5Sget_simple_extent_dims(space, found.data(), nullptr) < 0 || found != dims)
    fail(std::string("the dataset ") + name + " has another shape than it should have");
  check_status(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), what);
}

}  // namespace mini_sim
