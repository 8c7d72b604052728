// The HDF5 reader on files that libhdf5 writes in every layout that it knows: both must agree on every dataset.
#include "format/hdf5_reader.h"

#include <filesystem>
#include <fstream>
#include <functional>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include "format/hdf5_oracle.h"

namespace forebay::format {
namespace {

using Dims = std::vector<hsize_t>;
constexpr hsize_t kNoLimit = H5S_UNLIMITED;

struct DatasetOptions {
  hid_t type = H5T_NATIVE_DOUBLE;
  Dims maximum = {};
  Dims chunk = {};
  bool deflate = false;
  bool early = false;  // allocate all storage at once
  bool compact = false;
  bool write = true;
  std::string external = {};
};

// A new HDF5 file; true in `latest` asks for the newest structures that the library knows.
class Builder {
 public:
  Builder(const std::string& path, bool latest, hsize_t user_block = 0) {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    if (latest) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    if (user_block > 0) H5Pset_userblock(creation, user_block);
    file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access);
    H5Pclose(access);
    H5Pclose(creation);
  }
  ~Builder() { H5Fclose(file_); }

  hid_t file() const { return file_; }

  void group(const std::string& name) { H5Gclose(H5Gcreate2(file_, name.c_str(), 0, 0, 0)); }

  void dataset(const std::string& name, const Dims& dims, const DatasetOptions& options = {}) {
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(),
                                         options.maximum.empty() ? nullptr : options.maximum.data());
    dataset_in(name, space, options);
  }

  void dataset_in(const std::string& name, hid_t space, const DatasetOptions& options) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (!options.chunk.empty()) H5Pset_chunk(properties, static_cast<int>(options.chunk.size()), options.chunk.data());
    if (options.deflate) H5Pset_deflate(properties, 6);
    if (options.early) H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
    if (options.compact) H5Pset_layout(properties, H5D_COMPACT);
    if (!options.external.empty()) H5Pset_external(properties, options.external.c_str(), 0, H5F_UNLIMITED);
    const hid_t dataset = H5Dcreate2(file_, name.c_str(), options.type, space, 0, properties, 0);
    ASSERT_GE(dataset, 0) << name;
    if (options.write && options.external.empty()) write(dataset, space, options.type);
    H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
  }

  // What datasets of so many bytes hold.
  static std::string content(size_t bytes) {
    std::string data(bytes, '\0');
    uint32_t state = 0;
    for (char& byte : data) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    return data;
  }

 private:
  static void write(hid_t dataset, hid_t space, hid_t type) {
    const std::string data = content(static_cast<size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type));
    if (!data.empty() && H5Tis_variable_str(type) <= 0) {
      EXPECT_GE(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, 0, data.data()), 0);
    }
  }

  hid_t file_;
};

// The parameter is whether to write with the newest structures.
class Hdf5Agreement : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    path_ = std::filesystem::path(testing::TempDir()) / ("forebay_hdf5_" + std::to_string(::getpid()) + ".h5");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  // Builds a file and expects both to find `variables` in it.
  void check(size_t variables, const std::function<void(Builder&)>& build, hsize_t user_block = 0) {
    {
      Builder builder(path_, GetParam(), user_block);
      build(builder);
    }
    EXPECT_EQ(expect_agreement(path_), variables);
  }

  Layout read() {
    const auto source = FileSource::open(path_);
    const auto layout = Hdf5Reader().read(**source);
    EXPECT_TRUE(layout.has_value());
    return layout.value_or(Layout{});
  }

  std::string path_;
};

INSTANTIATE_TEST_SUITE_P(Versions, Hdf5Agreement, testing::Bool(),
                         [](const auto& tested) { return tested.param ? "latest" : "earliest"; });

TEST_P(Hdf5Agreement, ContiguousNumbersOfEveryType) {
  const std::vector<hid_t> types = {H5T_STD_I8LE,  H5T_STD_I16LE, H5T_STD_I32LE,  H5T_STD_I64LE,  H5T_STD_U8BE,
                                    H5T_STD_U16BE, H5T_STD_U32BE, H5T_STD_U64BE,  H5T_IEEE_F32LE, H5T_IEEE_F64LE,
                                    H5T_STD_I16BE, H5T_STD_I64BE, H5T_IEEE_F32BE, H5T_IEEE_F64BE};
  check(types.size(), [&](Builder& builder) {
    for (size_t i = 0; i < types.size(); ++i) builder.dataset("n" + std::to_string(i), {3, 4 + i}, {.type = types[i]});
  });
}

TEST_P(Hdf5Agreement, OtherTypesAreOpaque) {
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 12), text = H5Tcopy(H5T_C_S1), odd = H5Tcopy(H5T_STD_I32LE);
  const hid_t vlen = H5Tcopy(H5T_C_S1), array = H5Tarray_create2(H5T_IEEE_F32LE, 1, Dims{3}.data());
  const hid_t flag = H5Tenum_create(H5T_STD_I8LE);
  H5Tinsert(compound, "a", 0, H5T_IEEE_F64LE);
  H5Tinsert(compound, "b", 8, H5T_STD_I32LE);
  H5Tset_size(text, 7);
  H5Tset_size(vlen, H5T_VARIABLE);
  H5Tset_precision(odd, 20);
  const int8_t zero = 0;
  H5Tenum_insert(flag, "no", &zero);
  const std::map<std::string, hid_t> types = {{"compound", compound}, {"text", text}, {"odd", odd},
                                              {"array", array},       {"flag", flag}, {"vlen", vlen}};
  check(types.size(), [&](Builder& builder) {
    for (const auto& [name, type] : types) builder.dataset(name, {5}, {.type = type, .early = true});
  });
}

TEST_P(Hdf5Agreement, ElementsLargerThanADatatypeBecomeRows) {
  Builder(path_, GetParam()).dataset("rows", {2}, {.type = H5Tcreate(H5T_OPAQUE, 70000)});
  const Layout layout = read();
  ASSERT_EQ(layout.variables.size(), 1u);
  EXPECT_EQ(layout.variables[0].type, kBytes);
  EXPECT_EQ(layout.variables[0].shape, (Shape{2, 70000}));
  EXPECT_EQ(layout.variables[0].extents[0].length, 140000u);
}

TEST_P(Hdf5Agreement, HalfPrecisionIsANumberAndOtherFloatsAreNot) {
  const hid_t half = H5Tcopy(H5T_IEEE_F32LE), odd = H5Tcopy(H5T_IEEE_F32LE);
  H5Tset_fields(half, 15, 10, 5, 0, 10);
  H5Tset_precision(half, 16);
  H5Tset_size(half, 2);
  H5Tset_ebias(half, 15);
  H5Tset_ebias(odd, 100);
  {
    Builder builder(path_, GetParam());
    builder.dataset("a", {4}, {.type = half});
    builder.dataset("b", {4}, {.type = odd});
    builder.dataset("c", {4}, {.type = H5T_NATIVE_LDOUBLE});
  }
  std::map<std::string, std::string> types;
  for (const Variable& variable : read().variables) types[variable.path] = variable.type.name();
  EXPECT_EQ(types, (std::map<std::string, std::string>{{"/a", "f2"}, {"/b", "x4"}, {"/c", "x16"}}));
}

TEST_P(Hdf5Agreement, ScalarNullEmptyAndUnallocated) {
  check(1, [](Builder& builder) {
    builder.dataset_in("scalar", H5Screate(H5S_SCALAR), {});
    builder.dataset_in("null", H5Screate(H5S_NULL), {.write = false});
    builder.dataset("zero", {0, 4}, {});
    builder.dataset("late", {8}, {.write = false});
    builder.dataset("late chunks", {8}, {.chunk = {4}, .write = false});
    builder.group("empty");
  });
}

TEST_P(Hdf5Agreement, ChunksWithoutUnlimitedDimensions) {
  check(8, [](Builder& builder) {
    builder.dataset("exact", {8, 8}, {.chunk = {4, 2}});
    builder.dataset("edges", {7, 9, 5}, {.chunk = {4, 2, 3}});
    builder.dataset("larger maximum", {7, 9}, {.maximum = {20, 30}, .chunk = {4, 2}});
    builder.dataset("single", {5, 5}, {.chunk = {5, 5}});
    builder.dataset("implicit", {7, 9}, {.chunk = {4, 2}, .early = true});
    builder.dataset("deflated", {64, 9}, {.chunk = {4, 2}, .deflate = true});
    builder.dataset("single deflated", {64}, {.chunk = {64}, .deflate = true});
    builder.dataset("paged", {5000}, {.type = H5T_STD_U8LE, .chunk = {2}});
  });
}

TEST_P(Hdf5Agreement, ChunksWithOneUnlimitedDimension) {
  check(7, [](Builder& builder) {
    builder.dataset("one", {3}, {.maximum = {kNoLimit}, .chunk = {5}});
    builder.dataset("few", {40}, {.maximum = {kNoLimit}, .chunk = {2}});
    builder.dataset("many", {7000}, {.type = H5T_STD_U8LE, .maximum = {kNoLimit}, .chunk = {2}});
    builder.dataset("more", {3000}, {.type = H5T_STD_U8LE, .maximum = {kNoLimit}, .chunk = {2}});
    builder.dataset("second", {6, 90}, {.maximum = {6, kNoLimit}, .chunk = {4, 2}});
    builder.dataset("middle", {3, 30, 4}, {.maximum = {9, kNoLimit, 8}, .chunk = {2, 2, 3}});
    builder.dataset("deflated", {3, 300}, {.maximum = {9, kNoLimit}, .chunk = {2, 2}, .deflate = true});
  });
}

TEST_P(Hdf5Agreement, ChunksWithSeveralUnlimitedDimensions) {
  check(3, [](Builder& builder) {
    builder.dataset("small", {7, 5}, {.maximum = {kNoLimit, kNoLimit}, .chunk = {4, 2}});
    builder.dataset("deep", {160, 200}, {.type = H5T_STD_U8LE, .maximum = {kNoLimit, kNoLimit}, .chunk = {2, 2}});
    builder.dataset("deflated", {90, 20}, {.maximum = {kNoLimit, kNoLimit}, .chunk = {2, 3}, .deflate = true});
  });
}

TEST_P(Hdf5Agreement, SomeChunksWithoutStorage) {
  const auto write_part = [](Builder& builder, const std::string& name, const Dims& maximum) {
    builder.dataset(name, {300000}, {.type = H5T_STD_I32LE, .maximum = maximum, .chunk = {2}, .write = false});
    const hid_t dataset = H5Dopen2(builder.file(), name.c_str(), 0), space = H5Dget_space(dataset);
    const hsize_t count = 4;
    const hid_t memory = H5Screate_simple(1, &count, nullptr);
    for (const hsize_t start : {2, 40, 900, 7000, 299000}) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &count, nullptr);
      const int32_t values[4] = {1, 2, 3, 4};
      EXPECT_GE(H5Dwrite(dataset, H5T_STD_I32LE, memory, space, 0, values), 0);
    }
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
  };
  check(2, [&](Builder& builder) {
    write_part(builder, "fixed", {300000});
    write_part(builder, "growing", {kNoLimit});
  });
  for (const Variable& variable : read().variables) EXPECT_TRUE(variable.partial) << variable.path;
}

TEST_P(Hdf5Agreement, DatasetsThatShrank) {
  check(3, [](Builder& builder) {
    const std::vector<Dims> maxima = {{20, 20}, {20, kNoLimit}, {kNoLimit, kNoLimit}};
    for (size_t i = 0; i < maxima.size(); ++i) {
      const std::string name = "d" + std::to_string(i);
      builder.dataset(name, {20, 20}, {.maximum = maxima[i], .chunk = {3, 4}});
      const hid_t dataset = H5Dopen2(builder.file(), name.c_str(), 0);
      EXPECT_GE(H5Dset_extent(dataset, Dims{8, 9}.data()), 0);
      H5Dclose(dataset);
    }
  });
}

TEST_P(Hdf5Agreement, ThousandsOfLinksInOneGroup) {
  check(3000, [](Builder& builder) {
    for (int i = 0; i < 3000; ++i) builder.dataset("a rather long name " + std::to_string(i * 7919), {4});
  });
}

TEST_P(Hdf5Agreement, NestedGroups) {
  check(60, [](Builder& builder) {
    std::string path;
    for (int depth = 0; depth < 60; ++depth) {
      path.append("/g").append(std::to_string(depth));
      builder.group(path);
      builder.dataset(path + "/data", {4});
    }
  });
}

TEST_P(Hdf5Agreement, UserBlock) {
  check(
      3,
      [](Builder& builder) {
        builder.group("g");
        builder.dataset("g/a", {4});
        builder.dataset("g/b", {40}, {.chunk = {3}});
        builder.dataset("g/c", {40}, {.maximum = {kNoLimit}, .chunk = {3}, .deflate = true});
      },
      2048);
}

TEST_P(Hdf5Agreement, CommittedDatatype) {
  check(2, [](Builder& builder) {
    const hid_t type = H5Tcopy(H5T_IEEE_F32BE);
    H5Tcommit2(builder.file(), "type", type, 0, 0, 0);
    builder.dataset("a", {4}, {.type = type});
    builder.dataset("b", {4}, {.type = type});
    H5Tclose(type);
  });
}

TEST_P(Hdf5Agreement, ManyAttributesAndContinuations) {
  check(2, [](Builder& builder) {
    for (const std::string name : {"a", "b"}) {
      builder.dataset(name, {4});
      const hid_t dataset = H5Dopen2(builder.file(), name.c_str(), 0), space = H5Screate(H5S_SCALAR);
      for (int i = 0; i < 50; ++i)
        H5Aclose(H5Acreate2(dataset, ("attribute " + std::to_string(i)).c_str(), H5T_NATIVE_INT, space, 0, 0));
      H5Sclose(space);
      H5Dclose(dataset);
    }
  });
}

TEST_P(Hdf5Agreement, ExternalStorageIsLeftOut) {
  check(1, [&](Builder& builder) {
    builder.dataset("inside", {4});
    builder.dataset("outside", {4}, {.external = path_ + ".raw"});
  });
}

TEST_P(Hdf5Agreement, SoftAndExternalLinksAreNotFollowed) {
  check(1, [](Builder& builder) {
    builder.dataset("a", {4});
    H5Lcreate_soft("/a", builder.file(), "soft", 0, 0);
    H5Lcreate_soft("/nowhere", builder.file(), "dangling", 0, 0);
    H5Lcreate_external("other.h5", "/a", builder.file(), "external", 0, 0);
  });
}

TEST_P(Hdf5Agreement, HardLinksAndCirclesAreVisitedOnce) {
  {
    Builder builder(path_, GetParam());
    builder.group("g");
    builder.dataset("g/a", {4});
    H5Lcreate_hard(builder.file(), "g/a", builder.file(), "b", 0, 0);
    H5Lcreate_hard(builder.file(), "/", builder.file(), "g/root", 0, 0);
    H5Lcreate_hard(builder.file(), "g", builder.file(), "g/self", 0, 0);
  }
  EXPECT_EQ(read().variables.size(), 1u);
}

TEST_P(Hdf5Agreement, CompactDataLieInTheObjectHeader) {
  Builder(path_, GetParam()).dataset("c", {5}, {.type = H5T_STD_U8LE, .compact = true});
  const Layout layout = read();
  ASSERT_EQ(layout.variables.size(), 1u);
  ASSERT_EQ(layout.variables[0].extents.size(), 1u);
  const Extent extent = layout.variables[0].extents[0];
  ASSERT_EQ(extent.length, 5u);
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(extent.offset));
  char bytes[5];
  file.read(bytes, 5);
  EXPECT_EQ(std::string(bytes, 5), Builder::content(5));
}

}  // namespace
}  // namespace forebay::format
