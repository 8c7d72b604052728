#include "io/hdf5/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include <hdf5.h>
#include <unistd.h>

#include "io/hdf5/dimensions.h"
#include "io/hdf5/types.h"

namespace forebay::hdf5 {
namespace {

constexpr const char* kSteps = "forebay_steps";
constexpr const char* kTimeIndex = "forebay_time_index";
// With this, an object has room for attributes of 64 KiB and more; netCDF-4 has it for all.
constexpr unsigned kInOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
constexpr hsize_t kAlignment = 4096, kAligned = 1 << 20;  // large arrays begin at pages

// Debian's library is not made for several threads.
std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::unexpected<Fault> failed(const std::string& what, const std::string& path) {
  return std::unexpected(Fault{FOREBAY_METHOD_WRITE, path + ": " + what + ": " + library_words()});
}

// An attribute of one element or of several; replaces one that is there.
bool put_attribute(hid_t object, const std::string& name, hid_t type, uint64_t count, bool is_list, const void* value) {
  if (H5Aexists(object, name.c_str()) > 0) H5Adelete(object, name.c_str());
  const hsize_t extent = count;
  const Id space(is_list ? H5Screate_simple(1, &extent, nullptr) : H5Screate(H5S_SCALAR));
  const Id attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
  return attribute && H5Awrite(attribute, type, value) >= 0;
}

template <class T>
bool read_attribute(hid_t object, const char* name, hid_t type, T* value) {
  if (H5Aexists(object, name) <= 0) return false;
  const Id attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Id space(attribute ? H5Aget_space(attribute) : -1);
  return space && H5Sget_simple_extent_npoints(space) == 1 && H5Aread(attribute, type, value) >= 0;
}

// One file that is being changed.
class Change {
 public:
  Change(std::string path, hid_t file, bool netcdf)
      : path_(std::move(path)), file_(file), netcdf_(netcdf), dimensions_(file) {}

  Outcome<void> add(const Plan& plan, std::map<const Dataset*, uint64_t>& places) {
    for (const auto& [name, dataset] : plan.datasets) {
      Outcome<uint64_t> place = add(name, dataset);
      if (!place) return std::unexpected(place.error());
      if (*place != kNowhere) places[&dataset] = *place;
    }
    return {};
  }

  // What the library does not take is refused.
  Outcome<void> add(const forebay_method_attribute& attribute, const Plan& plan, uint64_t step, std::string& refused) {
    const auto [object, name] = owner(attribute.name, step);
    if (name.empty()) return {};
    if (!object) return failed("cannot open what attribute \"" + std::string(attribute.name) + "\" belongs to", path_);
    std::vector<char> strings;
    AttributeValue value;
    if (attribute.variable) {
      const auto found = plan.datasets.find(object_path(step, attribute.variable));
      if (found == plan.datasets.end() || found->second.values.empty()) return {};  // not written in this step
      const std::string& bytes = found->second.values[0];
      value = attribute_value(found->second.type, 1, bytes.data(), bytes.size(), strings);
    } else {
      value = attribute_value(attribute.type, attribute.count, attribute.bytes, attribute.size, strings);
    }
    if (value.type && put_attribute(object, name, value.type, value.count, value.is_list, value.bytes)) return {};
    if (refused.empty())
      refused = path_ + ": cannot write attribute \"" + attribute.name + "\", of " + std::to_string(attribute.size) +
                " bytes; all else is written";
    return {};
  }

  Outcome<void> finish(const forebay_method_standing& standing) {
    const Id root(H5Gopen2(file_, "/", H5P_DEFAULT));
    if (!root || !put_attribute(root, kSteps, H5T_NATIVE_UINT64, 1, false, &standing.steps) ||
        !put_attribute(root, kTimeIndex, H5T_NATIVE_UINT32, 1, false, &standing.last_time_index))
      return failed("cannot write how many steps there are", path_);
    return {};
  }

 private:
  // The object that an attribute describes, and its name there, which may be empty.
  std::pair<Id, std::string> owner(const std::string& full, uint64_t step) {
    const size_t slash = full.rfind('/');
    const std::string path = slash == std::string::npos ? "" : object_path(step, full.substr(0, slash));
    if (!path.empty() && exists(path)) return {Id(H5Oopen(file_, path.c_str(), H5P_DEFAULT)), full.substr(slash + 1)};
    std::string name = full.starts_with("/") ? full.substr(1) : full;
    if (netcdf_) std::ranges::replace(name, '/', '.');  // which its names cannot have
    if (step > 0 && !name.empty()) name = "step_" + std::to_string(step) + "." + name;
    return {Id(H5Oopen(file_, "/", H5P_DEFAULT)), name};
  }

  bool exists(const std::string& path) const {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
      if (H5Lexists(file_, path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
    return H5Lexists(file_, path.c_str(), H5P_DEFAULT) > 0;
  }

  // Makes the groups that a path goes through; false if one of them is something else.
  bool make_groups(const std::string& path) {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string group = path.substr(0, slash);
      if (H5Lexists(file_, group.c_str(), H5P_DEFAULT) > 0) {
        const Id there(H5Oopen(file_, group.c_str(), H5P_DEFAULT));
        if (!there || H5Iget_type(there) != H5I_GROUP) return false;
        continue;
      }
      const Id properties(H5Pcreate(H5P_GROUP_CREATE));
      H5Pset_link_creation_order(properties, kInOrder);
      H5Pset_attr_creation_order(properties, kInOrder);
      if (!Id(H5Gcreate2(file_, group.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT))) return false;
    }
    return true;
  }

  Outcome<uint64_t> add(const std::string& name, const Dataset& dataset) {
    if (netcdf_ && dataset.type == FOREBAY_METHOD_LONG_DOUBLE)
      return std::unexpected(Fault{
          FOREBAY_METHOD_UNSUPPORTED,
          "variable \"" + name + "\" is a long double, which netCDF-4 does not have; the method PHDF5 can write it"});
    const Stored stored = stored_form(file_, dataset, netcdf_);
    if (netcdf_ && std::ranges::find(stored.shape, 0u) != stored.shape.end()) return kNowhere;  // no such dimensions
    if (!make_groups(name)) return failed("\"" + name + "\" lies in what is not a group", path_);
    const std::vector<hsize_t> extents(stored.shape.begin(), stored.shape.end());
    const Id space(extents.empty() ? H5Screate(H5S_SCALAR)
                                   : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr));
    Id object;
    if (H5Lexists(file_, name.c_str(), H5P_DEFAULT) > 0) {
      object = Id(H5Dopen2(file_, name.c_str(), H5P_DEFAULT));
      if (!object || !is_same(object, stored.type, space))
        return std::unexpected(Fault{FOREBAY_METHOD_INVALID_DATA,
                                     path_ + ": \"" + name + "\" is there already with another type or shape"});
    } else {
      const Id properties(H5Pcreate(H5P_DATASET_CREATE));
      H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
      H5Pset_attr_creation_order(properties, kInOrder);
      object = Id(H5Dcreate2(file_, name.c_str(), stored.type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
      if (!object) return failed("cannot make \"" + name + "\"", path_);
      if (netcdf_ && !dimensions_.attach(object, stored.shape))
        return failed("cannot give dimensions to \"" + name + "\"", path_);
    }
    if (!dataset.values.empty()) {
      if (H5Dwrite(object, stored.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.bytes.data()) < 0)
        return failed("cannot write \"" + name + "\"", path_);
      return kNowhere;
    }
    const haddr_t place = H5Dget_offset(object);
    return place == HADDR_UNDEF ? kNowhere : static_cast<uint64_t>(place);
  }

  static bool is_same(hid_t object, hid_t type, hid_t space) {
    const Id its_type(H5Dget_type(object)), its_space(H5Dget_space(object));
    return H5Tequal(its_type, type) > 0 && H5Sextent_equal(its_space, space) > 0;
  }

  const std::string path_;
  const hid_t file_;
  const bool netcdf_;
  Dimensions dimensions_;
};

hid_t open_or_make(const GuardedFile& file, const std::string& path, bool is_new) {
  const Id access = file.access();
  H5Pset_alignment(access, kAligned, kAlignment);
  if (!is_new) return H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  const Id creation(H5Pcreate(H5P_FILE_CREATE));
  H5Pset_link_creation_order(creation, kInOrder);
  H5Pset_attr_creation_order(creation, kInOrder);
  return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
}

}  // namespace

Fault system_fault(const char* call, const std::string& path) {
  return {FOREBAY_METHOD_WRITE, path + ": " + call + ": " + std::strerror(errno)};
}

Outcome<forebay_method_standing> inspect(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0)
    return std::unexpected(Fault{FOREBAY_METHOD_NOT_FOUND, path + ": there is no such file"});
  const std::lock_guard lock(library_mutex());
  const Quiet quiet;
  const Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file) return std::unexpected(Fault{FOREBAY_METHOD_FILE_OPEN, path + ": " + library_words()});
  const Id root(H5Gopen2(file, "/", H5P_DEFAULT));
  forebay_method_standing standing{};
  if (!root || !read_attribute(root, kSteps, H5T_NATIVE_UINT64, &standing.steps) ||
      !read_attribute(root, kTimeIndex, H5T_NATIVE_UINT32, &standing.last_time_index))
    return std::unexpected(Fault{FOREBAY_METHOD_INVALID_DATA,
                                 path + ": this file was not written by the methods PHDF5 and NC4, and gets no steps"});
  return standing;
}

Outcome<Structure> write_structure(const GuardedFile& guarded, const std::string& path, bool is_new, bool netcdf,
                                   const Plan& plan, const forebay_method_standing& standing,
                                   std::span<const forebay_method_step> steps) {
  const std::lock_guard lock(library_mutex());
  const Quiet quiet;
  const hid_t file = open_or_make(guarded, path, is_new);
  if (file < 0) return std::unexpected(Fault{FOREBAY_METHOD_FILE_OPEN, path + ": " + library_words()});
  Structure structure;
  Outcome<void> done;
  {
    Change change(path, file, netcdf);
    done = change.add(plan, structure.places);
    for (const forebay_method_step& step : steps)
      for (uint64_t i = 0; done && i < step.attribute_count; ++i)
        done = change.add(step.attributes[i], plan, step.step, structure.refused);
    if (done) done = change.finish(standing);
  }
  if (H5Fclose(file) < 0 && done) done = failed("cannot finish the file", path);
  if (done && (guarded.failure() != 0 || !guarded.is_closed()))
    done = std::unexpected(Fault{FOREBAY_METHOD_WRITE, path + ": the library cannot finish the file"});
  if (!done) return std::unexpected(std::move(done).error());
  return structure;
}

}  // namespace forebay::hdf5
