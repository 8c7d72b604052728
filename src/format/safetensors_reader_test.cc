#include "format/safetensors_reader.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace forebay::format {
namespace {

std::string file_with(const std::string& json, size_t data_bytes = 100) {
  std::string file(8, '\0');
  store_le(reinterpret_cast<std::byte*>(file.data()), uint64_t{json.size()});
  return file + json + std::string(data_bytes, 'd');
}

Result<Layout> read_tensors(const std::string& file) {
  const MemorySource source(as_bytes(file));
  return SafetensorsReader().read(source);
}

TEST(Safetensors, Tensors) {
  const std::string json =
      R"({"__metadata__":{"format":"pt","n":"1"},"a.b.c":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
      R"("half":{"shape":[3],"data_offsets":[24,30],"dtype":"BF16"},"s":{"dtype":"I64","shape":[],"data_offsets":[30,38]}})";
  const auto layout = read_tensors(file_with(json));
  ASSERT_TRUE(layout);
  ASSERT_EQ(layout->variables.size(), 3u);
  EXPECT_EQ(layout->variables[0].path, "/a.b.c");
  EXPECT_EQ(layout->variables[0].type.name(), "f4");
  EXPECT_EQ(layout->variables[0].shape, (Shape{2, 3}));
  EXPECT_EQ(layout->variables[0].extents, (std::vector<Extent>{{8 + json.size(), 24}}));
  EXPECT_EQ(layout->variables[1].type.name(), "x2");
  EXPECT_EQ(layout->variables[2].type.name(), "i8");
  EXPECT_EQ(layout->variables[2].shape, Shape{});
}

TEST(Safetensors, UnknownTypesAreBytes) {
  const auto layout = read_tensors(file_with(R"({"a":{"dtype":"F4","shape":[8],"data_offsets":[0,4]}})"));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->variables[0].type, kBytes);
  EXPECT_EQ(layout->variables[0].shape, Shape{4});
}

TEST(Safetensors, EmptyTensorsHaveNoExtents) {
  const auto layout = read_tensors(file_with(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})"));
  ASSERT_TRUE(layout);
  EXPECT_TRUE(layout->variables[0].extents.empty());
}

TEST(Safetensors, DamagedHeadersAreCorrupt) {
  for (const std::string json :
       {"{", "{}x", "{\"a\":1}", "{\"a\":[1]}", "{\"a\":{\"shape\":1}}", "{\"a\":{\"shape\":[[1]]}}",
        "{\"a\":{\"shape\":[-1]}}", "{\"a\":{\"shape\":[1.5]}}", "{\"a\":{\"dtype\":3}}", "{\"a\":{\"b\":{}}}",
        "{\"a\":{\"shape\":[1],\"shape\":[2]}}", "{\"a\":{\"shape\":[99999999999999999999]}}"}) {
    const auto layout = read_tensors(file_with(json));
    ASSERT_FALSE(layout) << json;
    EXPECT_EQ(layout.error().kind, ErrorKind::corrupt) << json;
  }
}

TEST(Safetensors, DeepNestingEndsEarly) {
  EXPECT_FALSE(read_tensors(file_with("{\"a\":" + std::string(1'000'000, '['))));
}

TEST(Safetensors, MatchesOnlyWhatHasAHeaderOfPossibleLength) {
  const auto matches = [](const std::string& file) {
    const MemorySource source(as_bytes(file));
    return *SafetensorsReader().matches(as_bytes(file), source);
  };
  EXPECT_TRUE(matches(file_with("{}", 0)));
  EXPECT_FALSE(matches(file_with("[]", 0)));
  EXPECT_FALSE(matches(file_with("{}", 0).substr(0, 9)));
  EXPECT_FALSE(matches(std::string("\x40\0\0\0\0\0\0\0{}", 10)));
}

}  // namespace
}  // namespace forebay::format
