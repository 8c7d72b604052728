// Files of HDF5 with one chunked dataset, and what their chunks hold. Of the tests only.
#pragma once

#include <cstring>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "format/hdf5_values.h"

namespace forebay::format {

using Sizes = std::vector<hsize_t>;

// The elements of a dataset as its chunks have them, in C order.
inline Result<Bytes> values_of(const std::string& path, const std::string& name) {
  FOREBAY_TRY(const auto source, FileSource::open(path));
  FOREBAY_TRY(const auto headers, DatasetHeaders::find(*source));
  FOREBAY_TRY(const StoredDataset dataset, headers.read(*source, name));
  const size_t rank = dataset.shape.size(), width = dataset.element_bytes;
  Bytes all(element_count(dataset.shape) * width);
  for (size_t i = 0; i < all.size(); ++i) all[i] = dataset.fill[i % width];
  Shape counts(rank);
  for (size_t d = 0; d < rank; ++d) counts[d] = (dataset.shape[d] + dataset.chunk[d] - 1) / dataset.chunk[d];
  for (const StoredChunk& chunk : dataset.chunks) {
    Bytes stored(chunk.extent.length);
    FOREBAY_CHECK(source->read_at(chunk.extent.offset, stored));
    FOREBAY_TRY(const Bytes raw, hdf5::undo_filters(dataset.filters, chunk.mask, stored, dataset.chunk_bytes()));
    for (uint64_t i = 0; i < element_count(dataset.chunk); ++i) {
      uint64_t rest = i, cell = chunk.cell, at = 0, stride = 1;
      bool is_inside = true;
      for (size_t d = rank; d-- > 0;) {
        const uint64_t index = cell % counts[d] * dataset.chunk[d] + rest % dataset.chunk[d];
        is_inside = is_inside && index < dataset.shape[d];
        at += index * stride;
        stride *= dataset.shape[d];
        rest /= dataset.chunk[d];
        cell /= counts[d];
      }
      if (is_inside) std::memcpy(all.data() + at * width, raw.data() + i * width, width);
    }
  }
  return all;
}

class Hdf5Values : public testing::Test {
 protected:
  Hdf5Values()
      : directory_(std::filesystem::path(testing::TempDir()) / ("forebay_values_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(directory_);
  }
  ~Hdf5Values() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name = "file.h5") const { return directory_ / name; }

  // Numbers that rise slowly, with a little noise.
  Bytes numbers(size_t bytes) {
    Bytes values(bytes);
    for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>(i / 50 + random_() % 3);
    return values;
  }

  // Makes a file with one dataset `x`: set_up says what its chunks go through.
  struct Wish {
    hid_t type = H5T_STD_I32LE;
    Sizes shape, chunk;
    Sizes maximum = {};
    bool latest = false;
    std::function<void(hid_t properties)> set_up;
    std::function<void(hid_t dataset)> write;  // all of it, if nothing is said
  };
  void make(const Wish& wish) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), properties = H5Pcreate(H5P_DATASET_CREATE);
    if (wish.latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    const hid_t file = H5Fcreate(path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const int rank = static_cast<int>(wish.shape.size());
    const hid_t space = H5Screate_simple(rank, wish.shape.data(), wish.maximum.empty() ? nullptr : wish.maximum.data());
    if (!wish.chunk.empty()) H5Pset_chunk(properties, rank, wish.chunk.data());
    if (wish.set_up) wish.set_up(properties);
    const hid_t dataset = H5Dcreate2(file, "x", wish.type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    ASSERT_GE(dataset, 0);
    if (wish.write) {
      wish.write(dataset);
    } else {
      const size_t bytes = static_cast<size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(wish.type);
      const Bytes values = values_ ? values_(bytes) : numbers(bytes);
      ASSERT_GE(H5Dwrite(dataset, wish.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(properties);
    H5Pclose(access);
  }

  void expect_agreement() {
    const hid_t file = H5Fopen(path().c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT), type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    Bytes theirs(static_cast<size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type));
    ASSERT_GE(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, theirs.data()), 0);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
    const auto ours = values_of(path(), "/x");
    ASSERT_TRUE(ours) << ours.error().message();
    EXPECT_TRUE(*ours == theirs);
  }

  std::mt19937 random_{7};
  std::function<Bytes(size_t bytes)> values_;

 private:
  std::filesystem::path directory_;
};

}  // namespace forebay::format
