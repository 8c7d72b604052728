// The plug-in for HDF5 and netCDF-4.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include "convert/sink/plugin_sink.h"
#include "convert/target/new_target.h"
#include "io/hdf5/guarded_file.h"
#include "io/hdf5/types.h"

namespace forebay::convert {
namespace {

using hdf5::Id;

std::vector<hsize_t> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

class Hdf5Sink final : public Sink {
 public:
  explicit Hdf5Sink(const NewTarget& target) : target_(target), guarded_(target.fd(), hdf5::Writes::at_once) {}

  Result<void> begin(const Plan& plan) override {
    plan_ = &plan;
    const Id access = guarded_.access(), creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    file_ = Id(H5Fcreate(target_.temporary().c_str(), H5F_ACC_TRUNC, creation, access));
    if (!file_) return failed("cannot be made");
    for (const Dataset& dataset : plan.datasets) FOREBAY_CHECK(make_groups(dataset.path));
    for (size_t i = 0; i < plan.datasets.size(); ++i) FOREBAY_CHECK(make_dataset(i));
    for (const Dataset& dataset : plan.datasets) FOREBAY_CHECK(attach_dimensions(dataset));
    FOREBAY_CHECK(put_users_of_scales());
    for (const GroupAttributes& group : plan.groups) {
      const Id object(H5Oopen(file_, ("/" + group.path).c_str(), H5P_DEFAULT));
      for (const view::Attribute& attribute : group.attributes) FOREBAY_CHECK(put_attribute(object, attribute));
    }
    return check_written();
  }

  Result<void> write(const Piece& piece) override {
    const Dataset& dataset = plan_->datasets[piece.dataset];
    const Id object(H5Dopen2(file_, dataset.path.c_str(), H5P_DEFAULT));
    const Id space(object ? H5Dget_space(object) : -1);
    const auto begin = sizes_of(piece.box.begin), count = sizes_of(piece.box.count);
    const bool is_scalar = dataset.shape.empty();
    const Id memory(is_scalar ? H5Screate(H5S_SCALAR)
                              : H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr));
    const bool selected =
        is_scalar || H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr) >= 0;
    if (!object || !selected ||
        H5Dwrite(object, type_of(dataset.type), memory, space, H5P_DEFAULT, piece.values.data()) < 0)
      return failed(fmt::format("'{}' cannot be written", dataset.path));
    target_.begin_sync();
    return check_written();
  }

  Result<void> commit(bool) override {
    types_.clear();
    file_ = Id();
    if (!guarded_.is_closed()) return failed("cannot be finished");
    return check_written();
  }

 private:
  // A dimension of an array, and what arrays a scale is one of: as HDF5's dimension scales (H5DS) have them in
  // attributes.
  struct User {
    hobj_ref_t dataset;
    int dimension;
  };
  struct Scale {
    hobj_ref_t reference = 0;
    std::vector<User> users;
  };

  std::unexpected<Error> failed(const std::string& what) const {
    return fail(ErrorKind::io, fmt::format("{}: {}", what, hdf5::library_words()), target_.path());
  }

  // The library does not know of failed writes.
  Result<void> check_written() const {
    if (guarded_.failure() != 0) return fail_errno(guarded_.failure(), "write", target_.path());
    return {};
  }

  const Id& type_of(const view::ElementType& type) {
    Id& known = types_[*type.value];
    if (!known) known = hdf5::stored_form(file_, {.type = static_cast<int32_t>(*type.value)}, false).type;
    return known;
  }

  Result<void> make_groups(const std::string& path) {
    for (size_t slash = 0; (slash = path.find('/', slash)) != std::string::npos; ++slash) {
      const std::string group = path.substr(0, slash);
      if (!groups_.insert(group).second) continue;
      const Id properties(H5Pcreate(H5P_GROUP_CREATE));
      H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
      if (!Id(H5Gcreate2(file_, group.c_str(), H5P_DEFAULT, properties, H5P_DEFAULT)))
        return failed(fmt::format("group '{}' cannot be made", group));
    }
    return {};
  }

  Result<void> make_dataset(size_t number) {
    const Dataset& dataset = plan_->datasets[number];
    const auto sizes = sizes_of(dataset.shape);
    const Id space(sizes.empty() ? H5Screate(H5S_SCALAR)
                                 : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr));
    const Id object(H5Dcreate2(file_, dataset.path.c_str(), type_of(dataset.type), space, H5P_DEFAULT,
                               ordered_attributes(), H5P_DEFAULT));
    if (!object) return failed(fmt::format("'{}' cannot be made", dataset.path));
    for (const view::Attribute& attribute : dataset.attributes) FOREBAY_CHECK(put_attribute(object, attribute));
    if (dataset.values.empty()) return {};
    return write({number, engine::whole_box(dataset.shape), dataset.values});
  }

  // Dimensions are scales: of an array of the dimension's name its values, else datasets without any.
  // H5DSattach_scale() is not used: it writes the list of a scale's users again for each of them.
  Result<void> attach_dimensions(const Dataset& dataset) {
    const size_t rank = dataset.dimensions.size();
    const Id object(H5Dopen2(file_, dataset.path.c_str(), H5P_DEFAULT));
    hobj_ref_t self;
    if (!object || H5Rcreate(&self, file_, dataset.path.c_str(), H5R_OBJECT, -1) < 0)
      return failed(fmt::format("'{}' cannot get its dimensions", dataset.path));
    std::vector<hobj_ref_t> references(rank);
    std::vector<hvl_t> lists(rank);
    for (size_t d = 0; d < rank; ++d) {
      const std::string& name = dataset.dimensions[d];
      if (name == dataset.path) continue;
      const auto [scale, is_new] = scales_.try_emplace(name);
      if (is_new) FOREBAY_CHECK(make_scale(name, dataset.shape[d], scale->second));
      references[d] = scale->second.reference;
      lists[d] = {1, &references[d]};
      scale->second.users.push_back({self, static_cast<int>(d)});
    }
    if (std::ranges::all_of(lists, [](const hvl_t& list) { return list.len == 0; })) return {};
    const Id type(H5Tvlen_create(H5T_STD_REF_OBJ));
    return put_list(object, "DIMENSION_LIST", type, lists.size(), lists.data(), dataset.path);
  }

  // What each scale says of the arrays that have it.
  Result<void> put_users_of_scales() {
    const Id type(H5Tcreate(H5T_COMPOUND, sizeof(User)));
    H5Tinsert(type, "dataset", HOFFSET(User, dataset), H5T_STD_REF_OBJ);
    H5Tinsert(type, "dimension", HOFFSET(User, dimension), H5T_NATIVE_INT);
    for (const auto& [name, scale] : scales_) {
      const Id object(H5Dopen2(file_, name.c_str(), H5P_DEFAULT));
      FOREBAY_CHECK(put_list(object, "REFERENCE_LIST", type, scale.users.size(), scale.users.data(), name));
    }
    return {};
  }

  Result<void> put_list(const Id& object, const char* name, const Id& type, size_t count, const void* values,
                        const std::string& path) {
    const hsize_t size = count;
    const Id space(H5Screate_simple(1, &size, nullptr));
    const Id made(object ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1);
    if (made && H5Awrite(made, type, values) >= 0) return {};
    return failed(fmt::format("'{}' cannot get its {}", path, name));
  }

  // netCDF creates objects in this way, which keeps the order of attributes; only such an object can have attributes of
  // more than 64 KiB.
  static Id ordered_attributes() {
    Id properties(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    return properties;
  }

  Result<void> make_scale(const std::string& name, uint64_t length, Scale& scale) {
    const auto is_it = [&](const Dataset& dataset) { return dataset.path == name; };
    const bool has_values = std::ranges::any_of(plan_->datasets, is_it);
    const hsize_t size = length;
    const Id space(H5Screate_simple(1, &size, nullptr));
    const Id object(has_values ? H5Dopen2(file_, name.c_str(), H5P_DEFAULT)
                               : H5Dcreate2(file_, name.c_str(), H5T_IEEE_F32BE, space, H5P_DEFAULT,
                                            ordered_attributes(), H5P_DEFAULT));
    // The words by which netCDF knows a dimension that is no variable.
    const std::string label =
        has_values ? name : fmt::format("This is a netCDF dimension but not a netCDF variable. {:9}", length);
    if (!object || H5DSset_scale(object, label.c_str()) < 0 ||
        H5Rcreate(&scale.reference, file_, name.c_str(), H5R_OBJECT, -1) < 0)
      return failed(fmt::format("the dimension '{}' cannot be made", name));
    return {};
  }

  Result<void> put_attribute(hid_t object, const view::Attribute& attribute) {
    if (!attribute.type.value) return {};
    std::vector<char> strings;
    const auto value = hdf5::attribute_value(static_cast<int32_t>(*attribute.type.value), attribute.count,
                                             attribute.value.data(), attribute.value.size(), strings);
    if (!value.type) return {};
    const hsize_t count = value.count;
    const Id space(value.is_list ? H5Screate_simple(1, &count, nullptr) : H5Screate(H5S_SCALAR));
    const Id made(H5Acreate2(object, attribute.name.c_str(), value.type, space, H5P_DEFAULT, H5P_DEFAULT));
    if (!made || H5Awrite(made, value.type, value.bytes) < 0)
      return failed(fmt::format("attribute '{}' cannot be written", attribute.name));
    return {};
  }

  const hdf5::Quiet quiet_;
  const NewTarget& target_;
  const hdf5::GuardedFile guarded_;
  const Plan* plan_ = nullptr;
  Id file_;
  std::map<io::ValueType, Id> types_;
  std::set<std::string> groups_;
  std::map<std::string, Scale> scales_;  // by the dimension's name
};

}  // namespace
}  // namespace forebay::convert

using namespace forebay;

extern "C" [[gnu::visibility("default")]] convert::Sink* forebay_make_sink(const convert::NewTarget& target) {
  return new convert::Hdf5Sink(target);
}

extern "C" [[gnu::visibility("default")]] uint64_t forebay_sink_build() { return convert::sink_build(); }
