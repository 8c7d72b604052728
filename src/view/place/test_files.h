// Files as codes write them, for tests of recognisers. Of the tests only.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hdf5.h>

#include "base/shape.h"
#include "engine/test_sets.h"
#include "view/read/selection.h"
#include "view/source/run.h"
#include "view/testing.h"

namespace forebay::view {

template <class T>
hid_t hdf5_type() {
  if constexpr (std::is_same_v<T, float>) return H5T_NATIVE_FLOAT;
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, int32_t>) return H5T_NATIVE_INT32;
  return H5T_NATIVE_INT64;
}

// An HDF5 file being written.
class TestHdf5 {
 public:
  explicit TestHdf5(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~TestHdf5() { H5Fclose(file_); }
  TestHdf5(const TestHdf5&) = delete;
  TestHdf5& operator=(const TestHdf5&) = delete;

  void group(const std::string& path) {
    H5Gclose(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }

  template <class T>
  void data(const std::string& path, const Shape& shape, const std::vector<T>& values) {
    ASSERT_EQ(values.size(), element_count(shape)) << path;
    data_of(path, shape, hdf5_type<T>(), values.data());
  }

  // Elements of `size` bytes: compounds, and texts.
  void opaque(const std::string& path, const Shape& shape, size_t size, const void* values) {
    const hid_t type = H5Tcreate(H5T_OPAQUE, size);
    data_of(path, shape, type, values);
    H5Tclose(type);
  }

  template <class T>
  void attribute(const std::string& object, const std::string& name, const std::vector<T>& values) {
    const hsize_t count = values.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    attribute_of(object, name, hdf5_type<T>(), space, values.data());
  }

  // Texts of one size, padded with zeros.
  void texts(const std::string& object, const std::string& name, const std::vector<std::string>& texts) {
    constexpr size_t kSize = 20;
    std::string padded;
    for (const std::string& text : texts) padded += text + std::string(kSize - text.size(), '\0');
    const hsize_t count = texts.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, kSize);
    attribute_of(object, name, type, space, padded.data());
    H5Tclose(type);
  }

  // A box as AMReX writes it: a compound of 32-bit integers.
  void box(const std::string& object, const std::string& name, const std::vector<int32_t>& corners) {
    const hid_t type = H5Tcreate(H5T_COMPOUND, 4 * corners.size());
    for (size_t i = 0; i < corners.size(); ++i)
      H5Tinsert(type, ("c" + std::to_string(i)).c_str(), 4 * i, H5T_NATIVE_INT32);
    attribute_of(object, name, type, H5Screate(H5S_SCALAR), corners.data());
    H5Tclose(type);
  }

 private:
  void data_of(const std::string& path, const Shape& shape, hid_t type, const void* values) {
    const std::vector<hsize_t> dims(shape.begin(), shape.end());
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    const hid_t dataset = H5Dcreate2(file_, path.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(dataset);
    H5Sclose(space);
  }

  // Takes `space`.
  void attribute_of(const std::string& object, const std::string& name, hid_t type, hid_t space, const void* values) {
    const hid_t at = H5Oopen(file_, object.c_str(), H5P_DEFAULT);
    const hid_t attribute = H5Acreate2(at, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT);
    ASSERT_GE(H5Awrite(attribute, type, values), 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Oclose(at);
  }

  hid_t file_;
};

// A netCDF classic file with float variables and integer attributes.
struct TestNetcdf {
  struct Attribute {
    std::string name;
    std::vector<int32_t> values;
  };
  struct Variable {
    std::string name;
    std::vector<std::string> dimensions;
    std::vector<float> values;
    std::vector<Attribute> attributes = {};
  };
  std::vector<std::pair<std::string, uint64_t>> dimensions;
  std::vector<Attribute> attributes;
  std::vector<Variable> variables;

  std::string bytes() const {
    std::string without = header(0), with = header(without.size());
    for (const Variable& variable : variables)
      for (const float value : variable.values) u32(with, std::bit_cast<uint32_t>(value));
    return with;
  }

 private:
  static void u32(std::string& out, uint64_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  }
  static void name(std::string& out, const std::string& text) {
    u32(out, text.size());
    out += text + std::string((4 - text.size() % 4) % 4, '\0');
  }
  static void list(std::string& out, const std::vector<Attribute>& attributes) {
    u32(out, attributes.empty() ? 0 : 12);
    u32(out, attributes.size());
    for (const Attribute& each : attributes) {
      name(out, each.name);
      u32(out, 4);
      u32(out, each.values.size());
      for (const int32_t value : each.values) u32(out, static_cast<uint32_t>(value));
    }
  }
  std::string header(uint64_t begin) const {
    std::string out("CDF\1", 4);
    u32(out, 0), u32(out, 10), u32(out, dimensions.size());
    for (const auto& [text, size] : dimensions) name(out, text), u32(out, size);
    list(out, attributes);
    u32(out, 11), u32(out, variables.size());
    for (const Variable& variable : variables) {
      name(out, variable.name);
      u32(out, variable.dimensions.size());
      for (const std::string& dimension : variable.dimensions)
        u32(out,
            static_cast<uint64_t>(std::ranges::find(dimensions, dimension, &std::pair<std::string, uint64_t>::first) -
                                  dimensions.begin()));
      list(out, variable.attributes);
      u32(out, 5), u32(out, 4 * variable.values.size()), u32(out, begin);
      begin += 4 * variable.values.size();
    }
    return out;
  }
};

// A test that packs files and reads the step that they are.
class PlacedTest : public engine::SetTest {
 protected:
  std::string tree_file(const std::string& name) const { return tree() + "/" + name; }

  std::shared_ptr<const Step> packed_step(const std::string& layout = {}) {
    pack_ok(options());
    auto run = open_run(store_path(), {.resources = resources(), .layout = layout});
    if (!run) throw std::runtime_error(run.error().message());
    run_ = *std::move(run);
    const auto step = run_->step(0);
    if (!step) throw std::runtime_error(step.error().message());
    return *step;
  }

  // All of a global array; nothing if there is no such array or it is not global; -1 where no block is.
  template <class T>
  static std::vector<T> all_of(const Step& step, const std::string& name, const Shape& shape) {
    const auto array = find_array(step, name);
    if (!array) {
      ADD_FAILURE() << array.error().message();
      return {};
    }
    const Array& found = step.arrays()[*array];
    EXPECT_EQ(found.form, Form::global) << name;
    EXPECT_EQ(found.shape, shape) << name;
    if (found.form != Form::global || found.shape != shape || found.type.bytes() != sizeof(T)) return {};
    std::vector<T> values(element_count(shape), T(-1));
    const Request request{&step, *array, Strided{engine::whole_box(shape), {}},
                          std::as_writable_bytes(std::span(values))};
    const auto result = read({&request, 1});
    EXPECT_FALSE(result.outcomes[0].error) << result.outcomes[0].error->message();
    return values;
  }

 private:
  std::unique_ptr<view::Run> run_;
};

// Cuts 0 to `size` at random into `parts` stretches of one at least; the bounds.
template <class Random>
std::vector<uint64_t> random_cuts(uint64_t size, uint64_t parts, Random& random) {
  std::vector<uint64_t> inner(size - 1);
  for (uint64_t i = 0; i < inner.size(); ++i) inner[i] = i + 1;
  std::ranges::shuffle(inner, random);
  inner.resize(parts - 1);
  std::ranges::sort(inner);
  inner.insert(inner.begin(), 0);
  inner.push_back(size);
  return inner;
}

}  // namespace forebay::view
