#include "io/hdf5/types.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace forebay::hdf5 {
namespace {

Id complex_type(hid_t part) {
  const size_t size = H5Tget_size(part);
  Id type(H5Tcreate(H5T_COMPOUND, 2 * size));
  H5Tinsert(type, "r", 0, part);  // as numpy and h5py call them
  H5Tinsert(type, "i", size, part);
  return type;
}

Id fixed_string(uint64_t length) {
  Id type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, std::max<uint64_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  return type;
}

Id number_type(int32_t type) {
  switch (type) {
    case FOREBAY_METHOD_INT8:
      return Id(H5Tcopy(H5T_NATIVE_INT8));
    case FOREBAY_METHOD_INT16:
      return Id(H5Tcopy(H5T_NATIVE_INT16));
    case FOREBAY_METHOD_INT32:
      return Id(H5Tcopy(H5T_NATIVE_INT32));
    case FOREBAY_METHOD_INT64:
      return Id(H5Tcopy(H5T_NATIVE_INT64));
    case FOREBAY_METHOD_UINT8:
      return Id(H5Tcopy(H5T_NATIVE_UINT8));
    case FOREBAY_METHOD_UINT16:
      return Id(H5Tcopy(H5T_NATIVE_UINT16));
    case FOREBAY_METHOD_UINT32:
      return Id(H5Tcopy(H5T_NATIVE_UINT32));
    case FOREBAY_METHOD_UINT64:
      return Id(H5Tcopy(H5T_NATIVE_UINT64));
    case FOREBAY_METHOD_FLOAT32:
      return Id(H5Tcopy(H5T_NATIVE_FLOAT));
    case FOREBAY_METHOD_FLOAT64:
      return Id(H5Tcopy(H5T_NATIVE_DOUBLE));
    case FOREBAY_METHOD_LONG_DOUBLE:
      return Id(H5Tcopy(H5T_NATIVE_LDOUBLE));
    case FOREBAY_METHOD_COMPLEX64:
      return complex_type(H5T_NATIVE_FLOAT);
    case FOREBAY_METHOD_COMPLEX128:
      return complex_type(H5T_NATIVE_DOUBLE);
    case FOREBAY_METHOD_STRING:
      return fixed_string(1);  // an array of characters
    default:
      return Id();
  }
}

// NetCDF reads compound types that have a name in the file, alone.
Id named_type(hid_t file, int32_t type) {
  const char* const name = type == FOREBAY_METHOD_COMPLEX64 ? "complex64" : "complex128";
  if (H5Lexists(file, name, H5P_DEFAULT) > 0) return Id(H5Topen2(file, name, H5P_DEFAULT));
  Id made = number_type(type);
  H5Tcommit2(file, name, made, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  return made;
}

herr_t first_words(unsigned, const H5E_error2_t* error, void* words) {
  if (error->desc && *error->desc) *static_cast<std::string*>(words) = error->desc;
  return 1;  // no further
}

// Strings padded to the length of the longest, one after another.
std::string padded(const std::vector<std::string>& values, size_t length) {
  std::string bytes;
  for (const std::string& value : values) {
    bytes += value;
    bytes.resize(bytes.size() + length - value.size());
  }
  return bytes;
}

}  // namespace

std::string library_words() {
  const int code = errno;  // of a call that the library made, if it is one that it does not handle
  std::string words = "the HDF5 library does not say why";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_words, &words);
  if (code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO)
    words += std::string(": ") + std::strerror(code);
  return words;
}

Stored stored_form(hid_t file, const Dataset& dataset, bool netcdf) {
  Stored stored;
  stored.shape = dataset.shape;
  const bool is_complex = dataset.type == FOREBAY_METHOD_COMPLEX64 || dataset.type == FOREBAY_METHOD_COMPLEX128;
  if (dataset.type == FOREBAY_METHOD_STRING && !dataset.values.empty()) {
    size_t longest = 1;
    for (const std::string& value : dataset.values) longest = std::max(longest, value.size());
    stored.type = fixed_string(netcdf ? 1 : longest);
    if (netcdf) stored.shape.push_back(longest);
    stored.bytes = padded(dataset.values, longest);
    return stored;
  }
  stored.type = netcdf && is_complex ? named_type(file, dataset.type) : number_type(dataset.type);
  for (const std::string& value : dataset.values) stored.bytes += value;
  return stored;
}

AttributeValue attribute_value(int32_t type, uint64_t count, const void* bytes, uint64_t size,
                               std::vector<char>& strings) {
  AttributeValue value;
  const auto* const text = static_cast<const char*>(bytes);
  if (type == FOREBAY_METHOD_STRING) {
    strings.assign(text, text + size);
    strings.resize(std::max<size_t>(strings.size(), 1));
    value.type = fixed_string(size);
    value.bytes = strings.data();
  } else if (type == FOREBAY_METHOD_STRING_ARRAY) {
    std::vector<std::string> each;
    for (std::string_view rest(text, size); each.size() < count && !rest.empty();) {
      each.emplace_back(rest.substr(0, rest.find('\0')));
      rest.remove_prefix(std::min(rest.size(), each.back().size() + 1));
    }
    each.resize(count);
    size_t longest = 1;
    for (const std::string& one : each) longest = std::max(longest, one.size());
    const std::string all = padded(each, longest);
    strings.assign(all.begin(), all.end());
    value.type = fixed_string(longest);
    value.count = count;
    value.is_list = true;
    value.bytes = strings.data();
  } else if (size == count * element_bytes(type)) {
    value.type = number_type(type);
    value.count = count;
    value.is_list = count != 1;
    value.bytes = bytes;
  }
  return value;
}

}  // namespace forebay::hdf5
