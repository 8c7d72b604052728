// HDF5 files of checkpoints, written and read front to back, with a checksum over all values.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

namespace mini_sim {

// An open HDF5 object and the function that closes it.
class Handle {
 public:
  // Throws std::runtime_error, as everything below does, if `id` says that HDF5 could not do `what`.
  Handle(hid_t id, herr_t (*closer)(hid_t), const char* what);
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

  // Closes now, and reports what the destructor could not.
  void close();

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Every change of a single value changes it: FNV-1a (draft-eastlake-fnv) on words of 64 bits instead of bytes.
class Checksum {
 public:
  void add(const std::vector<double>& values);
  void add(const std::vector<int64_t>& values);
  int64_t value() const { return static_cast<int64_t>(state_); }

 private:
  uint64_t state_ = 0xcbf29ce484222325;
};

using Dims = std::vector<hsize_t>;

// The same values make the same bytes: nothing in the file depends on the time.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);

  hid_t root() const { return file_; }
  Handle group(hid_t parent, const char* name);
  void attribute(hid_t object, const char* name, const std::vector<double>& values);
  void attribute(hid_t object, const char* name, const std::vector<int64_t>& values);
  void array(hid_t group, const char* name, const Dims& dims, const std::vector<double>& values,
             bool single_precision = false);
  void array(hid_t group, const char* name, const Dims& dims, const std::vector<int64_t>& values);

  // Adds the checksum. The file is complete only now.
  void close();

 private:
  void write_attribute(hid_t object, const char* name, hid_t type, const void* values, hsize_t count);
  void write_array(hid_t group, const char* name, const Dims& dims, hid_t type, hid_t in_memory, const void* values);

  Handle file_;
  Checksum checksum_;
};

// Values are to be read in the order in which they were written.
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  hid_t root() const { return file_; }
  Handle group(hid_t parent, const char* name);
  // Fill `values`, whose size tells how many there must be.
  void attribute(hid_t object, const char* name, std::vector<double>& values);
  void attribute(hid_t object, const char* name, std::vector<int64_t>& values);
  void array(hid_t group, const char* name, const Dims& dims, std::vector<double>& values);
  void array(hid_t group, const char* name, const Dims& dims, std::vector<int64_t>& values);

  // Compares the checksum of what was read.
  void check();

 private:
  static void read_attribute(hid_t object, const char* name, hid_t type, void* values, size_t count);
  static void read_array(hid_t group, const char* name, const Dims& dims, hid_t type, void* values);

  Handle file_;
  Checksum checksum_;
};

}  // namespace mini_sim
