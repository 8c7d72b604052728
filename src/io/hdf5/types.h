// Handles and types of the HDF5 library.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

#include "io/hdf5/plan.h"

namespace forebay::hdf5 {

// An identifier of the library with an owner; false if it is none.
class Id {
 public:
  Id() = default;
  explicit Id(hid_t id) : id_(id) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Id() {
    if (id_ >= 0) H5Idec_ref(id_);
  }
  operator hid_t() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
};

// While it lives, the library prints nothing: what it has to say goes into errors.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// Why the last call of the library failed, in its words.
std::string library_words();

// How a dataset is stored: a type, a shape (empty: one value), and the bytes of values, if it has them.
struct Stored {
  Id type;
  std::vector<uint64_t> shape;
  std::string bytes;
};

// In netCDF's form, strings are arrays of characters, and the types of complex numbers have names in the file.
Stored stored_form(hid_t file, const Dataset& dataset, bool netcdf);

struct AttributeValue {
  Id type;  // none if there is no such type
  uint64_t count = 1;
  bool is_list = false;
  const void* bytes = nullptr;
};

// `strings` gets what the bytes refer to, if they had to be laid out anew.
AttributeValue attribute_value(int32_t type, uint64_t count, const void* bytes, uint64_t size,
                               std::vector<char>& strings);

}  // namespace forebay::hdf5
