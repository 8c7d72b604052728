#include "format/raw_description.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "format/reader.h"

namespace forebay::format {
namespace {

Layout lay_out(std::string_view text, uint64_t file_size) {
  const auto files = parse_raw_description(text);
  EXPECT_TRUE(files) << files.error().message();
  if (!files) return {};
  const auto layout = lay_out_raw(files->front(), file_size);
  EXPECT_TRUE(layout);
  return layout.value_or(Layout{});
}

std::string refusal(std::string_view text) {
  const auto files = parse_raw_description(text);
  EXPECT_FALSE(files) << text;
  if (files) return {};
  EXPECT_EQ(files.error().kind, ErrorKind::invalid_argument);
  return files.error().message();
}

TEST(RawDescription, PlainVariables) {
  const Layout layout = lay_out(R"(
[[file]]
[[file.variable]]
name = "time"
type = "f8"
[[file.variable]]
name = "fields/rho"
type = ">f4"
offset = 12
shape = [4, 5]
)",
                                92);
  ASSERT_EQ(layout.variables.size(), 2u);
  EXPECT_EQ(layout.format, "raw");
  EXPECT_EQ(layout.variables[0].path, "/time");
  EXPECT_EQ(layout.variables[0].shape, Shape{});
  EXPECT_EQ(layout.variables[0].extents, (std::vector<Extent>{{0, 8}}));
  EXPECT_EQ(layout.variables[1].path, "/fields/rho");
  EXPECT_EQ(layout.variables[1].type.name(), ">f4");
  EXPECT_EQ(layout.variables[1].extents, (std::vector<Extent>{{12, 80}}));
}

TEST(RawDescription, RepeatedVariablesGainALeadingDimension) {
  const Layout layout = lay_out(
      "[[file]]\n[[file.variable]]\nname='p'\ntype='u2'\noffset=4\nshape=[3]\n"
      "repeat={count=3,stride=10}\n",
      100);
  EXPECT_EQ(layout.variables[0].shape, (Shape{3, 3}));
  EXPECT_EQ(layout.variables[0].block, (Shape{1, 3}));
  EXPECT_EQ(layout.variables[0].extents, (std::vector<Extent>{{4, 6}, {14, 6}, {24, 6}}));
}

TEST(RawDescription, RepetitionsThatTouchAreOneExtent) {
  const Layout layout = lay_out(
      "[[file]]\n[[file.variable]]\nname='p'\ntype='u2'\nshape=[3]\n"
      "repeat={stride=6}\n",
      33);
  EXPECT_EQ(layout.variables[0].shape, (Shape{5, 3}));
  EXPECT_EQ(layout.variables[0].block, Shape{});
  EXPECT_EQ(layout.variables[0].extents, (std::vector<Extent>{{0, 30}}));
}

constexpr std::string_view kGroup = R"(
[[file]]
match = "dump.*"
[[file.group]]
name = "step"
offset = 8
repeat = {stride = 40}
[[file.group.variable]]
name = "a"
type = "f8"
[[file.group.variable]]
name = "b"
type = "x3"
offset = 20
shape = [2]
)";

TEST(RawDescription, GroupsRepeatWhileAllTheirVariablesFit) {
  Layout layout = lay_out(kGroup, 8 + 2 * 40 + 25);  // the third repetition lacks the last byte of b
  ASSERT_EQ(layout.variables.size(), 2u);
  EXPECT_EQ(layout.variables[0].path, "/step/a");
  EXPECT_EQ(layout.variables[0].extents, (std::vector<Extent>{{8, 8}, {48, 8}}));
  EXPECT_EQ(layout.variables[1].extents, (std::vector<Extent>{{28, 6}, {68, 6}}));
  layout = lay_out(kGroup, 8 + 2 * 40 + 26);
  EXPECT_EQ(layout.variables[1].shape, (Shape{3, 2}));
  EXPECT_TRUE(lay_out(kGroup, 3).variables[0].extents.empty());
}

TEST(RawDescription, WhatDoesNotFitIsLeftOutWithARemark) {
  const std::string bytes(100, 'x');
  const MemorySource source(as_bytes(bytes));
  for (const std::string rest :
       {"offset=97", "shape=[26]", "repeat={count=25,stride=5}", "repeat={count=9000000000000000000,stride=4}",
        "offset=9223372036854775807", "shape=[9000000000000000000,9000000000000000000]",
        "repeat={count=9000000000000000000,stride=9000000000000000000}"}) {
    const auto read =
        read_layout(source, "x", {.raw_description = "[[file]]\n[[file.variable]]\nname='a'\ntype='f4'\n" + rest});
    ASSERT_TRUE(read) << rest;
    EXPECT_EQ(read->layout.format, "raw");
    EXPECT_TRUE(read->layout.variables.empty()) << rest;
    EXPECT_NE(read->remark, "") << rest;
  }
}

TEST(RawDescription, FilesAreFoundByGlob) {
  const auto files = parse_raw_description(R"(
file = [{match = "dump.*"}, {match = "run?/*.bin"}, {match = "plain"}]
)");
  ASSERT_TRUE(files);
  const auto index = [&](const char* name) { return find_raw_file(*files, name) - files->data(); };
  EXPECT_EQ(index("dump.0001"), 0);
  EXPECT_EQ(index("deep/inside/dump.0001"), 0);
  EXPECT_EQ(index("run1/a.bin"), 1);
  EXPECT_EQ(index("a/plain"), 2);
  EXPECT_EQ(find_raw_file(*files, "run1/x/a.bin"), nullptr);
  EXPECT_EQ(find_raw_file(*files, "plain.txt"), nullptr);
}

TEST(RawDescription, RefusalsNameTheLine) {
  EXPECT_NE(refusal("[[file]]\n[[file.variable]]\nname = 'a'\ntype = 'f5'\n").find("line 4"), std::string::npos);
  EXPECT_NE(refusal("[[file]]\n[[file.variable]]\nname = 'a'\ntype = 'f4'\nofset = 3\n").find("'ofset'"),
            std::string::npos);
  EXPECT_NE(refusal("[[file]\n").find("line 1"), std::string::npos);
  for (const char* text : {"", "x = 1", "file = 3", "file = [3]", "[[file]]\nvariable = 1", "[[file]]\nmatch = 2",
                           "[[file]]\n[[file.variable]]\nname = 'a'", "[[file]]\n[[file.variable]]\ntype = 'f4'"})
    refusal(text);
  const std::string variable = "[[file]]\n[[file.variable]]\nname = 'a'\ntype = 'f4'\n";
  for (const char* rest : {"offset = -1", "offset = 1.5", "offset = '1'", "shape = 3", "shape = [0]", "shape = ['n']",
                           "repeat = 3", "repeat = {count = 3}", "repeat = {stride = 0}",
                           "repeat = {stride = 1, count = 0}", "repeat = {stride = 1, step = 2}"})
    refusal(variable + rest);
}

TEST(ReadLayout, OwnDescriptionCountsMoreThanTheSetsAndBothMoreThanTheContent) {
  const std::string file = std::string("CDF\1") + std::string(100, '\0');
  const MemorySource source(as_bytes(file));
  const FormatOptions set{.raw_description = "[[file]]\nmatch='a*'\n[[file.variable]]\nname='set'\ntype='x4'\n"};
  const auto path_of = [&](std::string_view name, std::string_view own) {
    const auto read = read_layout(source, name, set, own);
    return read && !read->layout.variables.empty() ? read->layout.variables[0].path : read->layout.format;
  };
  EXPECT_EQ(path_of("abc", "[[file]]\n[[file.variable]]\nname='own'\ntype='x4'\n"), "/own");
  EXPECT_EQ(path_of("abc", ""), "/set");
  EXPECT_EQ(path_of("xyz", ""), "netcdf");
  EXPECT_EQ(read_layout(source, "abc", set, "nonsense").error().kind, ErrorKind::invalid_argument);
}

TEST(ReadLayout, UnknownContentIsOpaqueWithoutARemark) {
  for (const std::string file : {"", "x", "plain text\n"}) {
    const MemorySource source(as_bytes(file));
    const auto read = read_layout(source, "x", {});
    ASSERT_TRUE(read);
    EXPECT_EQ(read->layout.format, "opaque");
    EXPECT_EQ(read->remark, "");
  }
}

TEST(ReadLayout, DamagedContentIsOpaqueWithARemark) {
  const std::string file = "CDF\1 but not really";
  const MemorySource source(as_bytes(file));
  const auto read = read_layout(source, "x", {});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->layout.format, "opaque");
  EXPECT_NE(read->remark.find("netCDF"), std::string::npos);
}

}  // namespace
}  // namespace forebay::format
