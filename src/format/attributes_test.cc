#include "format/attributes.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <unistd.h>

namespace forebay::format {
namespace {

template <class T>
std::vector<T> attribute_values(const FileAttribute& attribute) {
  std::vector<T> values(attribute.value.size() / sizeof(T));
  std::memcpy(values.data(), attribute.value.data(), values.size() * sizeof(T));
  return values;
}

void put_attribute(hid_t object, const std::string& name, hid_t stored, hid_t memory, const std::vector<hsize_t>& shape,
                   const void* value) {
  const hid_t space =
      shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t attribute = H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT);
  ASSERT_GE(attribute, 0);
  ASSERT_GE(H5Awrite(attribute, memory, value), 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

void put_attributes(hid_t file, hid_t object, int how_many) {
  const int32_t numbers[6] = {1, -2, 3, -4, 5, -6};
  put_attribute(object, "numbers", H5T_STD_I32BE, H5T_NATIVE_INT32, {2, 3}, numbers);
  const double pi = 3.25;
  put_attribute(object, "pi", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, &pi);
  const hid_t variable = H5Tcopy(H5T_C_S1);
  H5Tset_size(variable, H5T_VARIABLE);
  const char* texts[3] = {"one", "", "three of them"};
  put_attribute(object, "texts", variable, variable, {3}, static_cast<const void*>(texts));
  H5Tclose(variable);
  const hid_t spaces = H5Tcopy(H5T_FORTRAN_S1);
  H5Tset_size(spaces, 8);
  put_attribute(object, "spaces", spaces, spaces, {}, "g cm    ");
  H5Tclose(spaces);
  const hid_t fixed = H5Tcopy(H5T_C_S1);
  H5Tset_size(fixed, 4);
  put_attribute(object, "fixed", fixed, fixed, {2}, "ab\0\0cde\0");
  H5Tclose(fixed);
  const hid_t compound = H5Tcreate(H5T_COMPOUND, 8);
  H5Tinsert(compound, "a", 0, H5T_NATIVE_DOUBLE);
  put_attribute(object, "compound", compound, compound, {}, &pi);
  H5Tclose(compound);
  for (int i = 0; i < how_many; ++i)
    put_attribute(object, "n" + std::to_string(i), H5T_STD_I16LE, H5T_NATIVE_INT, {}, &i);
  if (H5Lexists(file, "type", H5P_DEFAULT) <= 0) {
    const hid_t named = H5Tcopy(H5T_STD_U16LE);
    H5Tcommit2(file, "type", named, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const uint16_t seven = 7;
    put_attribute(object, "committed", named, named, {}, &seven);
    H5Tclose(named);
  }
}

// The root and a dataset with attributes, in the oldest or the newest forms.
std::string file_with_attributes(H5F_libver_t low, int how_many) {
  const std::string path = std::filesystem::temp_directory_path() / ("attributes." + std::to_string(getpid()) + ".h5");
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, low, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t group = H5Gcreate2(file, "level_0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t ten = 10;
  const hid_t space = H5Screate_simple(1, &ten, nullptr);
  const hid_t dataset = H5Dcreate2(group, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put_attributes(file, file, how_many);
  put_attributes(file, dataset, how_many);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Gclose(group);
  H5Fclose(file);
  H5Pclose(access);
  return path;
}

FileAttributes attributes_of(const std::string& path, const AttributeLimits& limits = {}) {
  const auto source = FileSource::open(path);
  EXPECT_TRUE(source);
  const auto found = read_attributes(**source, "hdf5", limits);
  EXPECT_TRUE(found) << found.error().message();
  return found.value_or(FileAttributes());
}

struct AttributeForm {
  H5F_libver_t low;
  int how_many;
};

class Hdf5Attributes : public testing::TestWithParam<AttributeForm> {};
INSTANTIATE_TEST_SUITE_P(Forms, Hdf5Attributes,
                         testing::Values(AttributeForm{H5F_LIBVER_EARLIEST, 1}, AttributeForm{H5F_LIBVER_EARLIEST, 60},
                                         AttributeForm{H5F_LIBVER_V18, 1}, AttributeForm{H5F_LIBVER_LATEST, 1},
                                         AttributeForm{H5F_LIBVER_LATEST, 300}));

TEST_P(Hdf5Attributes, AreReadWhateverTheirForm) {
  const std::string path = file_with_attributes(GetParam().low, GetParam().how_many);
  const FileAttributes found = attributes_of(path);
  std::filesystem::remove(path);
  EXPECT_EQ(found.attributes.size(), 13u + 2 * static_cast<size_t>(GetParam().how_many));
  EXPECT_EQ(found.left_out, 0u);
  for (const std::string object : {"/", "/level_0/x"}) {
    const FileAttribute* numbers = found.find(object, "numbers");
    ASSERT_TRUE(numbers);
    EXPECT_EQ(numbers->shape, (Shape{2, 3}));
    EXPECT_EQ(numbers->type, (DataType{Kind::signed_int, ByteOrder::little, 4}));
    EXPECT_EQ(attribute_values<int32_t>(*numbers), (std::vector<int32_t>{1, -2, 3, -4, 5, -6}));
    const FileAttribute* pi = found.find(object, "pi");
    ASSERT_TRUE(pi);
    EXPECT_EQ(pi->shape, Shape());
    EXPECT_EQ(attribute_values<double>(*pi), std::vector<double>{3.25});
    const FileAttribute* texts = found.find(object, "texts");
    ASSERT_TRUE(texts);
    EXPECT_TRUE(texts->is_text);
    EXPECT_EQ(as_text(texts->value), std::string_view("one\0\0three of them\0", 19));
    EXPECT_EQ(as_text(found.find(object, "spaces")->value), std::string_view("g cm\0", 5));
    EXPECT_EQ(as_text(found.find(object, "fixed")->value), std::string_view("ab\0cde\0", 7));
    for (int16_t i = 0; i < GetParam().how_many; ++i) {
      const FileAttribute* each = found.find(object, "n" + std::to_string(i));
      ASSERT_TRUE(each);
      EXPECT_EQ(attribute_values<int16_t>(*each), std::vector<int16_t>{i});
    }
  }
  EXPECT_EQ(attribute_values<uint16_t>(*found.find("/", "committed")), std::vector<uint16_t>{7});
  EXPECT_EQ(found.find("/", "nowhere"), nullptr);
}

TEST(Attributes, StayWithinLimits) {
  const std::string path = file_with_attributes(H5F_LIBVER_LATEST, 100);
  const FileAttributes few = attributes_of(path, {.most = 20, .most_bytes_each = 1000, .most_bytes = 1000000});
  EXPECT_EQ(few.attributes.size(), 20u);
  EXPECT_EQ(few.left_out, 193u);
  const FileAttributes small = attributes_of(path, {.most = 1000, .most_bytes_each = 10, .most_bytes = 1000});
  EXPECT_EQ(small.find("/", "numbers"), nullptr);
  uint64_t bytes = 0;
  for (const FileAttribute& each : small.attributes) bytes += each.object.size() + each.name.size() + each.value.size();
  EXPECT_LE(bytes, 1000u);
  std::filesystem::remove(path);
}

TEST(Attributes, OfNetcdfAreReadWithNamesOfDimensions) {
  std::string file = std::string("CDF\1", 4);
  const auto u32 = [&](uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(value >> shift);
  };
  const auto name = [&](const std::string& text) {
    u32(static_cast<uint32_t>(text.size()));
    file += text + std::string((4 - text.size() % 4) % 4, '\0');
  };
  u32(0), u32(10), u32(2), name("y"), u32(2), name("x"), u32(3);  // no records; dimensions
  u32(12), u32(2), name("title"), u32(2), name("a run"), name("start"), u32(4), u32(2), u32(5), u32(0xfffffffe);
  u32(11), u32(1), name("t"), u32(2), u32(0), u32(1), u32(12), u32(1), name("units"), u32(2), name("K");
  u32(5), u32(24), u32(static_cast<uint32_t>(file.size()) + 4), file += std::string(24, '\0');
  const MemorySource source(as_bytes(file));
  const auto found = read_attributes(source, "netcdf");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(as_text(found->find("/", "title")->value), std::string_view("a run\0", 6));
  EXPECT_EQ(attribute_values<int32_t>(*found->find("/", "start")), (std::vector<int32_t>{5, -2}));
  EXPECT_EQ(as_text(found->find("/t", "units")->value), std::string_view("K\0", 2));
  EXPECT_EQ(found->dimensions.at("/t"), (std::vector<std::string>{"y", "x"}));
}

TEST(Attributes, OtherFormatsHaveNone) {
  const MemorySource source(as_bytes("anything"));
  const auto found = read_attributes(source, "opaque");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->attributes.empty());
}

}  // namespace
}  // namespace forebay::format
