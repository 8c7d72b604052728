#include "format/hdf5_oracle.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "format/reader.h"

namespace forebay::format {
namespace {

DataType type_of(hid_t type, size_t size) {
  const hid_t base = H5Tget_class(type) == H5T_ENUM ? H5Tget_super(type) : H5Tcopy(type);
  const H5T_class_t kind = H5Tget_class(base);
  DataType found{.kind = Kind::opaque, .order = ByteOrder::little, .size = static_cast<uint16_t>(size)};
  const bool whole = (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Tget_precision(base) == 8 * size;
  if (kind == H5T_INTEGER && whole)
    found.kind = H5Tget_sign(base) == H5T_SGN_NONE ? Kind::unsigned_int : Kind::signed_int;
  if (kind == H5T_FLOAT && whole && (size == 4 || size == 8)) found.kind = Kind::floating;
  if (found.is_number() && size > 1 && H5Tget_order(base) == H5T_ORDER_BE) found.order = ByteOrder::big;
  H5Tclose(base);
  return found;
}

void add_chunks(hid_t dataset, hid_t properties, OracleVariable& found) {
  Variable& variable = found.variable;
  const size_t rank = variable.shape.size();
  std::vector<hsize_t> dims(rank), offset(rank, 0);
  H5Pget_chunk(properties, static_cast<int>(rank), dims.data());
  variable.block.assign(dims.begin(), dims.end());
  variable.filtered = H5Pget_nfilters(properties) > 0;
  uint64_t cells = 1;
  for (size_t i = 0; i < rank; ++i) cells *= (variable.shape[i] + dims[i] - 1) / dims[i];
  for (uint64_t cell = 0; cell < cells; ++cell) {
    hsize_t size = 0;
    uint32_t mask = 0;
    if (H5Dget_chunk_storage_size(dataset, offset.data(), &size) >= 0 && size > 0) {
      Bytes& chunk = found.chunks.emplace_back(size);
      EXPECT_GE(H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &mask, chunk.data()), 0);
    }
    for (size_t i = rank; i-- > 0;) {
      offset[i] += dims[i];
      if (offset[i] < variable.shape[i]) break;
      offset[i] = 0;
    }
  }
  variable.partial = found.chunks.size() < cells;
}

OracleVariable describe(hid_t dataset, const std::string& path) {
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset), properties = H5Dget_create_plist(dataset);
  OracleVariable found;
  Variable& variable = found.variable;
  variable.path = path;
  std::vector<hsize_t> dims(static_cast<size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, dims.data(), nullptr);
  variable.shape.assign(dims.begin(), dims.end());
  size_t size = H5Tget_size(type);
  if (H5Pget_layout(properties) == H5D_CHUNKED) {
    add_chunks(dataset, properties, found);
  } else if (H5Pget_layout(properties) == H5D_CONTIGUOUS && H5Pget_external_count(properties) == 0) {
    const haddr_t offset = H5Dget_offset(dataset);
    const hsize_t bytes = H5Dget_storage_size(dataset);
    if (offset != HADDR_UNDEF && bytes > 0) {
      variable.extents = {{offset, bytes}};
      // A variable-length string has another size in memory, which is what libhdf5 tells.
      size = bytes / static_cast<size_t>(H5Sget_simple_extent_npoints(space));
    }
  }
  variable.type = type_of(type, size);
  H5Pclose(properties);
  H5Sclose(space);
  H5Tclose(type);
  return found;
}

herr_t take_object(hid_t root, const char* name, const H5O_info_t* info, void* found) {
  if (info->type != H5O_TYPE_DATASET) return 0;
  const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
  std::string path = "/";
  OracleVariable variable = describe(dataset, path.append(name));
  if (!variable.variable.extents.empty() || !variable.chunks.empty())
    static_cast<std::map<std::string, OracleVariable>*>(found)->emplace(path, std::move(variable));
  H5Dclose(dataset);
  return 0;
}

}  // namespace

std::map<std::string, OracleVariable> ask_libhdf5(const std::string& path) {
  std::map<std::string, OracleVariable> found;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // chunks without storage are errors to libhdf5
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_GE(file, 0) << path;
  EXPECT_GE(H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, take_object, &found, H5O_INFO_BASIC), 0);
  H5Fclose(file);
  return found;
}

namespace {

void expect_same(const Variable& ours, const OracleVariable& theirs, const ByteSource& source) {
  EXPECT_EQ(ours.type.name(), theirs.variable.type.name());
  EXPECT_EQ(ours.shape, theirs.variable.shape);
  EXPECT_EQ(ours.block, theirs.variable.block);
  EXPECT_EQ(ours.filtered, theirs.variable.filtered);
  EXPECT_EQ(ours.partial, theirs.variable.partial);
  if (theirs.chunks.empty()) {
    EXPECT_TRUE(ours.extents == theirs.variable.extents);
    return;
  }
  ASSERT_EQ(ours.extents.size(), theirs.chunks.size());
  size_t wrong = 0;
  for (size_t i = 0; i < theirs.chunks.size(); ++i) {
    Bytes chunk(ours.extents[i].length);
    EXPECT_TRUE(source.read_at(ours.extents[i].offset, chunk));
    wrong += chunk != theirs.chunks[i] ? 1 : 0;
  }
  EXPECT_EQ(wrong, 0u) << "of " << theirs.chunks.size() << " chunks";
}

}  // namespace

size_t expect_agreement(const std::string& path) {
  const auto expected = ask_libhdf5(path);
  const auto source = FileSource::open(path);
  const auto read = source ? read_layout(**source, "file", {}) : std::unexpected(source.error());
  if (!read) {
    ADD_FAILURE() << read.error().message();
    return 0;
  }
  EXPECT_EQ(read->layout.format, "hdf5");
  EXPECT_EQ(read->remark, "");
  std::map<std::string, Variable> found;
  for (const Variable& variable : read->layout.variables) found.emplace(variable.path, variable);
  EXPECT_EQ(found.size(), read->layout.variables.size());
  for (const auto& [name, theirs] : expected) {
    SCOPED_TRACE(path + ": " + name);
    if (!found.contains(name))
      ADD_FAILURE() << "not found";
    else
      expect_same(found[name], theirs, **source);
  }
  for (const auto& [name, ours] : found) EXPECT_TRUE(expected.contains(name)) << path << ": " << name;
  return expected.size();
}

// The checkpoints of real runs.
class RealSets : public testing::Test {
 protected:
  static std::filesystem::path archives() {
    const char* data = std::getenv("FOREBAY_DATA");
    return data ? data : FOREBAY_SOURCE_DIR "/../shared/data";
  }
  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) / ("forebay_format_" + std::to_string(::getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void expect_agreement_on(const std::string& archive, size_t datasets) {
    const auto path = archives() / archive;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there: set FOREBAY_DATA";
    const std::string command = "tar --zstd -xf '" + path.string() + "' -C '" + directory_.string() + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    size_t found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
      const std::string name = entry.path().filename();
      if (name.find(".cpu") != std::string::npos || name.ends_with(".hdf")) found += expect_agreement(entry.path());
    }
    EXPECT_EQ(found, datasets);
  }

 private:
  std::filesystem::path directory_;
};

TEST_F(RealSets, CosmologyAgrees) { expect_agreement_on("cosmology_p32_32r-DD0014.tar.zst", 2865); }
TEST_F(RealSets, ImplosionAgrees) { expect_agreement_on("implosion_p32_64r-DD0010.tar.zst", 258); }
TEST_F(RealSets, NohAgrees) { expect_agreement_on("noh3damr_p64_32r-DD0010.tar.zst", 173); }

}  // namespace forebay::format
