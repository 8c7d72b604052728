#include "format/npy_reader.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "format/npy.h"
#include "format/reader.h"

namespace forebay::format {
namespace {

std::string npy(const std::string& dictionary, size_t data_bytes, char version = 1) {
  std::string file = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) file += static_cast<char>(dictionary.size() >> (8 * i));
  return file + dictionary + std::string(data_bytes, 'd');
}

std::string dictionary(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }          \n";
}

Result<Layout> read(const std::string& file) {
  const MemorySource source(as_bytes(file));
  return NpyReader().read(source);
}

// The one variable of a file with this descr and shape, and as many bytes as given.
Variable variable(const std::string& descr, const std::string& shape, size_t bytes,
                  const std::string& order = "False") {
  const auto layout = read(npy(dictionary(descr, order, shape), bytes));
  EXPECT_TRUE(layout) << descr;
  if (!layout || layout->variables.empty()) return {};
  return layout->variables[0];
}

TEST(NpyHeader, IsWhatNumPyWrites) {
  const std::string header = npy_header(npy_descr({Kind::floating, ByteOrder::big, 4}), {3, 5});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(static_cast<size_t>(static_cast<unsigned char>(header[8])) + 10, header.size());
  EXPECT_TRUE(header.substr(10).starts_with("{'descr': '>f4', 'fortran_order': False, 'shape': (3, 5), }"));
  EXPECT_EQ(header.back(), '\n');
  const std::string bytes = npy_header(npy_descr({Kind::signed_int, ByteOrder::little, 1}), {7}, true);
  EXPECT_NE(bytes.find("'|i1', 'fortran_order': True, 'shape': (7,)"), std::string::npos);
  EXPECT_EQ(npy_descr({Kind::opaque, ByteOrder::little, 24}), "|V24");
}

TEST(Npy, EveryVersionOfTheHeader) {
  for (const char version : {'\1', '\2', '\3'}) {
    const std::string dict = dictionary("'<f8'", "False", "(3, 4)");
    const auto layout = read(npy(dict, 96, version));
    ASSERT_TRUE(layout);
    ASSERT_EQ(layout->variables.size(), 1u);
    EXPECT_EQ(layout->variables[0].path, "/data");
    EXPECT_EQ(layout->variables[0].shape, (Shape{3, 4}));
    EXPECT_EQ(layout->variables[0].extents, (std::vector<Extent>{{(version == 1 ? 10u : 12u) + dict.size(), 96}}));
  }
}

TEST(Npy, Types) {
  const std::vector<std::tuple<std::string, size_t, std::string>> types = {
      {"'<f8'", 8, "f8"},     {"'>f4'", 4, ">f4"},
      {"'<f2'", 2, "f2"},     {"'|i1'", 1, "i1"},
      {"'>u2'", 2, ">u2"},    {"'|b1'", 1, "u1"},
      {"'<c16'", 16, "x16"},  {"'<f16'", 16, "x16"},
      {"'|S5'", 5, "x5"},     {"'<U3'", 12, "x12"},
      {"'<M8[ns]'", 8, "i8"}, {"'|V7'", 7, "x7"},
      {"\"<i8\"", 8, "i8"},   {"[('a', '<f4'), ('b', '|S3')]", 7, "x7"},
  };
  for (const auto& [descr, size, name] : types) EXPECT_EQ(variable(descr, "(2,)", 2 * size).type.name(), name) << descr;
}

TEST(Npy, Shapes) {
  EXPECT_EQ(variable("'<f4'", "()", 4).shape, Shape{});
  EXPECT_EQ(variable("'<f4'", "(7,)", 28).shape, Shape{7});
  EXPECT_EQ(variable("'<f4'", "(2L, 3L)", 24).shape, (Shape{2, 3}));
}

TEST(Npy, FortranOrderReversesTheShape) {
  EXPECT_EQ(variable("'<f4'", "(2, 3, 4)", 96, "True").shape, (Shape{4, 3, 2}));
}

TEST(Npy, TheHeaderBeforeAnArrayTellsItsOrder) {
  for (const char version : {'\1', '\2'})
    for (const std::string order : {"True", "False"}) {
      const std::string head = "of another member\x93NUMPY" + npy(dictionary("'<f4'", order, "(2, 3)"), 0, version);
      EXPECT_EQ(is_fortran_npy(as_bytes(head)), order == "True");
      EXPECT_EQ(is_fortran_npy(as_bytes(head + "x")), std::nullopt);
      EXPECT_EQ(is_fortran_npy(as_bytes(head.substr(0, head.size() - 1))), std::nullopt);
    }
  EXPECT_EQ(is_fortran_npy({}), std::nullopt);
}

TEST(Npy, EmptyArraysAndObjectsHaveNoVariable) {
  EXPECT_TRUE(read(npy(dictionary("'<f4'", "False", "(0, 4)"), 0))->variables.empty());
  EXPECT_TRUE(read(npy(dictionary("'|O'", "False", "(4,)"), 100))->variables.empty());
  EXPECT_TRUE(read(npy(dictionary("[('a', '|O')]", "False", "(4,)"), 100))->variables.empty());
}

TEST(Npy, AnythingElseIsCorrupt) {
  for (const std::string dict :
       {"", "{}", "{'descr': '<f4', 'fortran_order': False, }", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [1], }", "__import__('os').system('true')",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000, 4000000000, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1000,), }"}) {
    const auto layout = read(npy(dict, 400));
    ASSERT_FALSE(layout) << dict;
    EXPECT_EQ(layout.error().kind, ErrorKind::corrupt) << dict;
  }
}

Layout read_sample(const std::string& name) {
  std::ifstream file(FOREBAY_SOURCE_DIR "/tests/fuzz/npy_fuzz/" + name, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const MemorySource source(as_bytes(bytes));
  const auto read = read_layout(source, "x", {});
  EXPECT_TRUE(read);
  return read ? read->layout : Layout{};
}

TEST(Npz, StoredMembersAreVariables) {
  const Layout layout = read_sample("npz");
  EXPECT_EQ(layout.format, "npz");
  ASSERT_EQ(layout.variables.size(), 3u);
  EXPECT_EQ(layout.variables[0].path, "/a");
  EXPECT_EQ(layout.variables[0].type.name(), "f4");
  EXPECT_EQ(layout.variables[0].shape, Shape{24});
  EXPECT_EQ(layout.variables[1].path, "/b");
  EXPECT_EQ(layout.variables[2].shape, Shape{});
}

TEST(Npz, CompressedMembersAreSkeleton) {
  const Layout layout = read_sample("npz_deflated");
  EXPECT_EQ(layout.format, "npz");
  EXPECT_TRUE(layout.variables.empty());
}

}  // namespace
}  // namespace forebay::format
