// The plug-in for HDF5 and netCDF-4.
#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include "convert/sink/plugin_sink.h"
#include "convert/target/new_target.h"
#include "io/hdf5/types.h"

namespace forebay::convert {
namespace {

using hdf5::Id;

std::vector<hsize_t> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

class Hdf5Sink final : public Sink {
 public:
  explicit Hdf5Sink(NewTarget target) : target_(std::move(target)) {}

  Result<void> begin(const Plan& plan) override {
    plan_ = &plan;
    const Id access(H5Pcreate(H5P_FILE_ACCESS)), creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    file_ = Id(H5Fcreate(target_.temporary().c_str(), H5F_ACC_TRUNC, creation, access));
    if (!file_) return failed("cannot be made");
    for (const Dataset& dataset : plan.datasets) FOREBAY_CHECK(make_groups(dataset.path));
    for (size_t i = 0; i < plan.datasets.size(); ++i) FOREBAY_CHECK(make_dataset(i));
    for (const Dataset& dataset : plan.datasets) FOREBAY_CHECK(attach_dimensions(dataset));
    for (const GroupAttributes& group : plan.groups) {
      const Id object(H5Oopen(file_, ("/" + group.path).c_str(), H5P_DEFAULT));
      for (const view::Attribute& attribute : group.attributes) FOREBAY_CHECK(put_attribute(object, attribute));
    }
    return {};
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
    return {};
  }

  Result<void> commit(bool overwrite) override {
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0) return failed("cannot be written");
    file_ = Id();
    return target_.commit(overwrite);
  }

 private:
  std::unexpected<Error> failed(const std::string& what) const {
    const int code = errno;
    const ErrorKind kind = code == ENOSPC || code == EDQUOT || code == EFBIG ? ErrorKind::no_space : ErrorKind::io;
    return fail(kind, fmt::format("{}: {}", what, hdf5::library_words()), target_.path());
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
    const Id properties(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const Id object(
        H5Dcreate2(file_, dataset.path.c_str(), type_of(dataset.type), space, H5P_DEFAULT, properties, H5P_DEFAULT));
    if (!object) return failed(fmt::format("'{}' cannot be made", dataset.path));
    for (const view::Attribute& attribute : dataset.attributes) FOREBAY_CHECK(put_attribute(object, attribute));
    if (dataset.values.empty()) return {};
    return write({number, engine::whole_box(dataset.shape), dataset.values});
  }

  // Dimensions are scales: of an array of the dimension's name its values, else datasets without any.
  Result<void> attach_dimensions(const Dataset& dataset) {
    const Id object(H5Dopen2(file_, dataset.path.c_str(), H5P_DEFAULT));
    for (size_t d = 0; d < dataset.dimensions.size(); ++d) {
      const std::string& name = dataset.dimensions[d];
      if (name == dataset.path) continue;
      if (scales_.insert(name).second) FOREBAY_CHECK(make_scale(name, dataset.shape[d]));
      const Id scale(H5Dopen2(file_, name.c_str(), H5P_DEFAULT));
      if (!scale || H5DSattach_scale(object, scale, static_cast<unsigned>(d)) < 0)
        return failed(fmt::format("'{}' cannot get the dimension '{}'", dataset.path, name));
    }
    return {};
  }

  Result<void> make_scale(const std::string& name, uint64_t length) {
    const auto is_it = [&](const Dataset& dataset) { return dataset.path == name; };
    const bool has_values = std::ranges::any_of(plan_->datasets, is_it);
    const hsize_t size = length;
    const Id space(H5Screate_simple(1, &size, nullptr));
    const Id object(
        has_values ? H5Dopen2(file_, name.c_str(), H5P_DEFAULT)
                   : H5Dcreate2(file_, name.c_str(), H5T_IEEE_F32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    // The words by which netCDF knows a dimension that is no variable.
    const std::string label =
        has_values ? name : fmt::format("This is a netCDF dimension but not a netCDF variable. {:9}", length);
    if (!object || H5DSset_scale(object, label.c_str()) < 0)
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
  NewTarget target_;
  const Plan* plan_ = nullptr;
  Id file_;
  std::map<io::ValueType, Id> types_;
  std::set<std::string> groups_, scales_;
};

}  // namespace
}  // namespace forebay::convert

using namespace forebay;

extern "C" [[gnu::visibility("default")]] convert::Sink* forebay_make_sink(const convert::SinkOptions& options,
                                                                           Error& why) {
  auto target = convert::NewTarget::file(options.target, options.overwrite);
  if (target) return new convert::Hdf5Sink(*std::move(target));
  why = std::move(target).error();
  return nullptr;
}
