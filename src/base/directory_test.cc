#include "base/directory.h"

#include <functional>

#include <gtest/gtest.h>

namespace forebay {
namespace {

constexpr DataType kFloat{Kind::floating, ByteOrder::little, 4};

Variable variable(std::string path, Shape shape, std::vector<Extent> extents, Shape block = {}) {
  return {.path = std::move(path),
          .type = kFloat,
          .shape = std::move(shape),
          .block = std::move(block),
          .extents = std::move(extents)};
}

FileRow file(std::string name, uint64_t size) {
  FileRow row;
  row.name = std::move(name);
  row.size = size;
  return row;
}

// Two files with the same variables, a directory and a link.
Directory example() {
  Directory directory;
  const Layout layout = {.format = "hdf5",
                         .variables = {variable("/a", {2, 3}, {{100, 24}}),
                                       variable("/b", {4, 4}, {{40, 16}, {8, 16}, {60, 16}, {124, 16}}, {2, 2})}};
  const std::vector<std::string> keys = {"a f4 2", "b f4 2"};
  directory.add(file("d/one", 200), layout, keys);
  directory.add(file("d/two", 140), layout, keys);
  FileRow other = file("d", 0);
  other.kind = FileKind::directory;
  directory.add(other, {.format = "", .variables = {}}, {});
  other.name = "link";
  other.kind = FileKind::symlink;
  other.link_target = "../anywhere";
  directory.add(other, {.format = "", .variables = {}}, {});
  return directory;
}

TEST(Directory, AddFillsRowsAndInternsNames) {
  const Directory directory = example();
  ASSERT_TRUE(directory.validate());
  ASSERT_EQ(directory.files.size(), 4u);
  EXPECT_EQ(directory.files[1].first_variable, 2u);
  EXPECT_EQ(directory.files[1].variable_count, 2u);
  EXPECT_EQ(directory.files[0].format, "hdf5");
  EXPECT_EQ(directory.paths.size(), 2u);
  EXPECT_EQ(directory.keys.size(), 2u);
  EXPECT_EQ(directory.shapes.size(), 3u);
  const VariableRow& a = directory.variables_of(directory.files[1])[0];
  const VariableRow& b = directory.variables_of(directory.files[1])[1];
  EXPECT_EQ(directory.paths[a.path], "/a");
  EXPECT_EQ(a.block, a.shape);
  EXPECT_EQ(directory.shapes[b.block], (Shape{2, 2}));
  EXPECT_EQ(directory.keys[b.key], "b f4 2");
  EXPECT_EQ(directory.extents_of(b).size(), 4u);
  EXPECT_EQ(directory.bytes_of(a), 24u);
  EXPECT_EQ(directory.bytes_of(b), 64u);
}

TEST(Directory, SkeletonIsWhatNoVariableHas) {
  const Directory directory = example();
  EXPECT_EQ(directory.skeleton_of(directory.files[0]),
            (std::vector<Extent>{{0, 8}, {24, 16}, {56, 4}, {76, 24}, {140, 60}}));
  EXPECT_EQ(directory.skeleton_of(directory.files[1]).back(), (Extent{76, 24}));
  EXPECT_TRUE(directory.skeleton_of(directory.files[2]).empty());
  Directory plain;
  plain.add(file("f", 5), {.format = "opaque", .variables = {}}, {});
  plain.add(file("empty", 0), {.format = "opaque", .variables = {}}, {});
  EXPECT_EQ(plain.skeleton_of(plain.files[0]), (std::vector<Extent>{{0, 5}}));
  EXPECT_TRUE(plain.skeleton_of(plain.files[1]).empty());
}

TEST(Directory, ValidateNoticesEachKindOfDamage) {
  const std::vector<std::pair<const char*, std::function<void(Directory&)>>> damages = {
      {"path index", [](Directory& d) { d.variables[0].path = 2; }},
      {"key index", [](Directory& d) { d.variables[0].key = 99; }},
      {"shape index", [](Directory& d) { d.variables[0].shape = UINT32_MAX; }},
      {"block index", [](Directory& d) { d.variables[0].block = 3; }},
      {"block of another rank", [](Directory& d) { d.variables[0].block = d.shapes.intern({24}); }},
      {"shape that overflows", [](Directory& d) { d.variables[0].block = d.shapes.intern({UINT64_MAX, 2}); }},
      {"bytes that overflow", [](Directory& d) { d.variables[0].block = d.shapes.intern({UINT64_MAX / 2, 1}); }},
      {"shape of many dimensions", [](Directory& d) { d.shapes.intern(Shape(kMaxDims + 1, 1)); }},
      {"datatype", [](Directory& d) { d.variables[0].type.size = 3; }},
      {"kind of datatype", [](Directory& d) { d.variables[0].type.kind = static_cast<Kind>(9); }},
      {"length against shape", [](Directory& d) { d.extents[0].length = 20; }},
      {"empty extent", [](Directory& d) { d.extents[0].length = 0; }},
      {"extent outside", [](Directory& d) { d.extents[0].offset = 177; }},
      {"extent far outside", [](Directory& d) { d.extents[0].offset = UINT64_MAX - 3; }},
      {"no extents", [](Directory& d) { d.variables[0].extent_count = 0; }},
      {"missing extents", [](Directory& d) { d.variables[3].extent_count = 5; }},
      {"extents that wrap", [](Directory& d) { d.variables[3].first_extent = UINT32_MAX; }},
      {"overlap", [](Directory& d) { d.extents[1].offset = 99; }},
      {"overlap of equals", [](Directory& d) { d.extents[1] = d.extents[2]; }},
      {"variables missing", [](Directory& d) { d.variables.pop_back(); }},
      {"variable of no file", [](Directory& d) { d.variables.push_back(d.variables[0]); }},
      {"variable of two files", [](Directory& d) { d.files[1].first_variable = 1; }},
      {"variable count", [](Directory& d) { d.files[1].variable_count = UINT32_MAX; }},
      {"name", [](Directory& d) { d.files[0].name = "../one"; }},
      {"kind of file", [](Directory& d) { d.files[0].kind = static_cast<FileKind>(3); }},
      {"mode", [](Directory& d) { d.files[0].mode = 010000; }},
      {"nanoseconds", [](Directory& d) { d.files[0].mtime_ns = 1'000'000'000; }},
      {"size", [](Directory& d) { d.files[0].size = UINT64_MAX; }},
      {"directory with bytes", [](Directory& d) { d.files[2].size = 1; }},
      {"link with variables", [](Directory& d) { d.files[1].kind = FileKind::symlink; }},
  };
  for (const auto& [what, damage] : damages) {
    Directory directory = example();
    damage(directory);
    const auto result = directory.validate();
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().kind, ErrorKind::corrupt) << what;
  }
}

TEST(Directory, FilteredExtentsMayHaveAnyLength) {
  Directory directory = example();
  directory.variables[0].filtered = true;
  directory.extents[0].length = 13;
  EXPECT_TRUE(directory.validate());
}

TEST(Directory, MemoryGrowsWithContent) {
  Directory directory = example();
  const uint64_t before = directory.memory_bytes();
  directory.paths.intern(std::string(10'000, 'x'));
  EXPECT_GE(directory.memory_bytes(), before + 10'000);
}

TEST(SafeName, Names) {
  for (const char* good : {"a", "a/b/c", "...", ".a", "a.", "a..b/c", " ", "-", "\n", "\xff"})
    EXPECT_TRUE(is_safe_name(good)) << good;
  for (const char* bad : {"", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/.", "a/..", "../a", "a/../b", "a/./b"})
    EXPECT_FALSE(is_safe_name(bad)) << bad;
  EXPECT_FALSE(is_safe_name(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_safe_name(std::string(kMaxPathBytes, 'x')));
  EXPECT_FALSE(is_safe_name(std::string(kMaxPathBytes + 1, 'x')));
}

}  // namespace
}  // namespace forebay
