#include "format/netcdf_reader.h"

#include <map>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace forebay::format {
namespace {

// Writes the fields of a classic header, all big-endian.
class Header {
 public:
  explicit Header(int version) : version_(version) { text_ = "CDF" + std::string(1, static_cast<char>(version)); }

  Header& u32(uint32_t value) { return number(value, 4); }
  Header& count(uint64_t value) { return number(value, version_ == 5 ? 8 : 4); }
  Header& offset(uint64_t value) { return number(value, version_ == 1 ? 4 : 8); }
  Header& name(const std::string& name) {
    count(name.size());
    text_ += name + std::string((4 - name.size() % 4) % 4, '\0');
    return *this;
  }
  Header& absent() { return u32(0).count(0); }
  Header& variable(const std::string& text, const std::vector<uint64_t>& dims, uint32_t type, uint64_t begin) {
    name(text).count(dims.size());
    for (const uint64_t dim : dims) count(dim);
    return absent().u32(type).count(0).offset(begin);  // the stored size is wrong on purpose: it must not matter
  }

  Result<Layout> read(uint64_t file_size) const {
    std::string file = text_;
    file.resize(file_size, '\7');
    const MemorySource source(as_bytes(file));
    return NetcdfReader().read(source);
  }
  size_t size() const { return text_.size(); }

 private:
  Header& number(uint64_t value, int bytes) {
    while (bytes-- > 0) text_ += static_cast<char>(value >> (8 * bytes));
    return *this;
  }
  int version_;
  std::string text_;
};

enum : uint32_t { kByte = 1, kChar = 2, kShort = 3, kInt = 4, kFloat = 5, kDouble = 6, kUint64 = 11 };

// Dimensions t (records), x = 3, y = 5.
Header start(int version, uint64_t records) {
  Header header(version);
  header.count(records).u32(10).count(3).name("t").count(0).name("x").count(3).name("y").count(5).absent();
  return header;
}

class Netcdf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Versions, Netcdf, testing::Values(1, 2, 5));

TEST_P(Netcdf, FixedVariables) {
  Header header = start(GetParam(), 0);
  header.u32(11).count(4).variable("a", {1, 2}, kDouble, 500).variable("text", {2}, kChar, 620);
  header.variable("byte", {1}, kByte, 640).variable("scalar", {}, kInt, 644);
  const auto layout = header.read(1000);
  ASSERT_TRUE(layout);
  ASSERT_EQ(layout->variables.size(), 4u);
  EXPECT_EQ(layout->variables[0].path, "/a");
  EXPECT_EQ(layout->variables[0].type.name(), ">f8");
  EXPECT_EQ(layout->variables[0].shape, (Shape{3, 5}));
  EXPECT_EQ(layout->variables[0].extents, (std::vector<Extent>{{500, 120}}));
  EXPECT_EQ(layout->variables[1].type.name(), "x1");
  EXPECT_EQ(layout->variables[2].type.name(), "i1");
  EXPECT_EQ(layout->variables[3].shape, Shape{});
  EXPECT_EQ(layout->variables[3].extents, (std::vector<Extent>{{644, 4}}));
}

TEST_P(Netcdf, RecordsAreInterleavedAndPadded) {
  Header header = start(GetParam(), 3);
  header.u32(11).count(2).variable("a", {0, 1}, kShort, 500).variable("b", {0}, kDouble, 508);
  const auto layout = header.read(1000);
  ASSERT_TRUE(layout);
  const Variable &a = layout->variables[0], &b = layout->variables[1];
  EXPECT_EQ(a.shape, (Shape{3, 3}));
  EXPECT_EQ(a.block, (Shape{1, 3}));
  EXPECT_EQ(a.extents, (std::vector<Extent>{{500, 6}, {516, 6}, {532, 6}}));
  EXPECT_EQ(b.shape, Shape{3});
  EXPECT_EQ(b.block, Shape{1});
  EXPECT_EQ(b.extents, (std::vector<Extent>{{508, 8}, {524, 8}, {540, 8}}));
}

TEST_P(Netcdf, RecordsOfALoneVariableTouch) {
  Header header = start(GetParam(), 4);
  header.u32(11).count(2).variable("a", {0, 1}, kShort, 500).variable("fixed", {1}, kFloat, 400);
  const auto layout = header.read(1000);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->variables[0].shape, (Shape{4, 3}));
  EXPECT_EQ(layout->variables[0].block, Shape{});
  EXPECT_EQ(layout->variables[0].extents, (std::vector<Extent>{{500, 24}}));
}

TEST_P(Netcdf, StreamedFilesCountTheirRecordsBySize) {
  Header header = start(GetParam(), GetParam() == 5 ? UINT64_MAX : UINT32_MAX);
  header.u32(11).count(2).variable("a", {0, 1}, kInt, 500).variable("b", {0}, kInt, 512);
  const auto layout = header.read(500 + 5 * 16 + 7);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->variables[0].shape, (Shape{5, 3}));
}

TEST_P(Netcdf, NoRecordsNoExtents) {
  Header header = start(GetParam(), 0);
  header.u32(11).count(1).variable("a", {0, 1}, kInt, 500);
  const auto layout = header.read(1000);
  ASSERT_TRUE(layout);
  EXPECT_TRUE(layout->variables[0].extents.empty());
}

TEST_P(Netcdf, RecordsBehindTheEndAreCorrupt) {
  Header header = start(GetParam(), 1'000'000'000);
  header.u32(11).count(2).variable("a", {0, 1}, kInt, 500).variable("b", {0}, kInt, 512);
  EXPECT_FALSE(header.read(1000));
}

TEST_P(Netcdf, LongHeadersAreReadWhole) {
  Header header = start(GetParam(), 0);
  constexpr int kCount = 3000;
  header.u32(11).count(kCount);
  for (int i = 0; i < kCount; ++i) header.variable("variable " + std::to_string(i), {1}, kInt, 1'000'000 + 12 * i);
  ASSERT_GT(header.size(), 64u << 10);
  const auto layout = header.read(2'000'000);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->variables.size(), size_t{kCount});
  EXPECT_EQ(layout->variables.back().path, "/variable 2999");
}

TEST_P(Netcdf, UnknownTypesDimensionsAndTagsAreCorrupt) {
  const auto kind_of = [](const Header& header) { return header.read(1000).error().kind; };
  EXPECT_EQ(kind_of(start(GetParam(), 0).u32(11).count(1).variable("a", {1}, 12, 500)), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(start(GetParam(), 0).u32(11).count(1).variable("a", {3}, kInt, 500)), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(start(GetParam(), 0).u32(11).count(1).variable("a", {1, 0}, kInt, 500)), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(start(GetParam(), 0).u32(13).count(1)), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(start(GetParam(), 0).u32(11).count(UINT32_MAX)), ErrorKind::corrupt);
}

}  // namespace
}  // namespace forebay::format
