#include "base/catalogue.h"

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
Catalogue example() {
  Catalogue catalogue;
  const Layout layout = {.format = "hdf5",
                         .variables = {variable("/a", {2, 3}, {{100, 24}}),
                                       variable("/b", {4, 4}, {{40, 16}, {8, 16}, {60, 16}, {124, 16}}, {2, 2})}};
  const std::vector<std::string> keys = {"a f4 2", "b f4 2"};
  catalogue.add(file("d/one", 200), layout, keys);
  catalogue.add(file("d/two", 140), layout, keys);
  FileRow other = file("d", 0);
  other.kind = FileKind::directory;
  catalogue.add(other, {.format = "", .variables = {}}, {});
  other.name = "link";
  other.kind = FileKind::symlink;
  other.link_target = "../anywhere";
  catalogue.add(other, {.format = "", .variables = {}}, {});
  return catalogue;
}

TEST(Catalogue, AddFillsRowsAndInternsNames) {
  const Catalogue catalogue = example();
  ASSERT_TRUE(catalogue.validate());
  ASSERT_EQ(catalogue.files.size(), 4u);
  EXPECT_EQ(catalogue.files[1].first_variable, 2u);
  EXPECT_EQ(catalogue.files[1].variable_count, 2u);
  EXPECT_EQ(catalogue.files[0].format, "hdf5");
  EXPECT_EQ(catalogue.paths.size(), 2u);
  EXPECT_EQ(catalogue.keys.size(), 2u);
  EXPECT_EQ(catalogue.shapes.size(), 3u);
  const VariableRow& a = catalogue.variables_of(catalogue.files[1])[0];
  const VariableRow& b = catalogue.variables_of(catalogue.files[1])[1];
  EXPECT_EQ(catalogue.paths[a.path], "/a");
  EXPECT_EQ(a.block, a.shape);
  EXPECT_EQ(catalogue.shapes[b.block], (Shape{2, 2}));
  EXPECT_EQ(catalogue.keys[b.key], "b f4 2");
  EXPECT_EQ(catalogue.extents_of(b).size(), 4u);
  EXPECT_EQ(catalogue.bytes_of(a), 24u);
  EXPECT_EQ(catalogue.bytes_of(b), 64u);
}

TEST(Catalogue, SkeletonIsWhatNoVariableHas) {
  const Catalogue catalogue = example();
  EXPECT_EQ(catalogue.skeleton_of(catalogue.files[0]),
            (std::vector<Extent>{{0, 8}, {24, 16}, {56, 4}, {76, 24}, {140, 60}}));
  EXPECT_EQ(catalogue.skeleton_of(catalogue.files[1]).back(), (Extent{76, 24}));
  EXPECT_TRUE(catalogue.skeleton_of(catalogue.files[2]).empty());
  Catalogue plain;
  plain.add(file("f", 5), {.format = "opaque", .variables = {}}, {});
  plain.add(file("empty", 0), {.format = "opaque", .variables = {}}, {});
  EXPECT_EQ(plain.skeleton_of(plain.files[0]), (std::vector<Extent>{{0, 5}}));
  EXPECT_TRUE(plain.skeleton_of(plain.files[1]).empty());
}

TEST(Catalogue, ValidateNoticesEachKindOfDamage) {
  const std::vector<std::pair<const char*, std::function<void(Catalogue&)>>> damages = {
      {"path index", [](Catalogue& d) { d.variables[0].path = 2; }},
      {"key index", [](Catalogue& d) { d.variables[0].key = 99; }},
      {"shape index", [](Catalogue& d) { d.variables[0].shape = UINT32_MAX; }},
      {"block index", [](Catalogue& d) { d.variables[0].block = 3; }},
      {"block of another rank", [](Catalogue& d) { d.variables[0].block = d.shapes.intern({24}); }},
      {"shape that overflows", [](Catalogue& d) { d.variables[0].block = d.shapes.intern({UINT64_MAX, 2}); }},
      {"bytes that overflow", [](Catalogue& d) { d.variables[0].block = d.shapes.intern({UINT64_MAX / 2, 1}); }},
      {"shape of many dimensions", [](Catalogue& d) { d.shapes.intern(Shape(kMaxDims + 1, 1)); }},
      {"datatype", [](Catalogue& d) { d.variables[0].type.size = 3; }},
      {"kind of datatype", [](Catalogue& d) { d.variables[0].type.kind = static_cast<Kind>(9); }},
      {"length against shape", [](Catalogue& d) { d.extents[0].length = 20; }},
      {"empty extent", [](Catalogue& d) { d.extents[0].length = 0; }},
      {"extent outside", [](Catalogue& d) { d.extents[0].offset = 177; }},
      {"extent far outside", [](Catalogue& d) { d.extents[0].offset = UINT64_MAX - 3; }},
      {"no extents", [](Catalogue& d) { d.variables[0].extent_count = 0; }},
      {"missing extents", [](Catalogue& d) { d.variables[3].extent_count = 5; }},
      {"extents that wrap", [](Catalogue& d) { d.variables[3].first_extent = UINT32_MAX; }},
      {"overlap", [](Catalogue& d) { d.extents[1].offset = 99; }},
      {"overlap of equals", [](Catalogue& d) { d.extents[1] = d.extents[2]; }},
      {"variables missing", [](Catalogue& d) { d.variables.pop_back(); }},
      {"variable of no file", [](Catalogue& d) { d.variables.push_back(d.variables[0]); }},
      {"variable of two files", [](Catalogue& d) { d.files[1].first_variable = 1; }},
      {"variable count", [](Catalogue& d) { d.files[1].variable_count = UINT32_MAX; }},
      {"name", [](Catalogue& d) { d.files[0].name = "../one"; }},
      {"kind of file", [](Catalogue& d) { d.files[0].kind = static_cast<FileKind>(3); }},
      {"mode", [](Catalogue& d) { d.files[0].mode = 010000; }},
      {"nanoseconds", [](Catalogue& d) { d.files[0].mtime_ns = 1'000'000'000; }},
      {"size", [](Catalogue& d) { d.files[0].size = UINT64_MAX; }},
      {"directory with bytes", [](Catalogue& d) { d.files[2].size = 1; }},
      {"link with variables", [](Catalogue& d) { d.files[1].kind = FileKind::symlink; }},
  };
  for (const auto& [what, damage] : damages) {
    Catalogue catalogue = example();
    damage(catalogue);
    const auto result = catalogue.validate();
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().kind, ErrorKind::corrupt) << what;
  }
}

TEST(Catalogue, FilteredExtentsMayHaveAnyLength) {
  Catalogue catalogue = example();
  catalogue.variables[0].filtered = true;
  catalogue.extents[0].length = 13;
  EXPECT_TRUE(catalogue.validate());
}

TEST(Catalogue, MemoryGrowsWithContent) {
  Catalogue catalogue = example();
  const uint64_t before = catalogue.memory_bytes();
  catalogue.paths.intern(std::string(10'000, 'x'));
  EXPECT_GE(catalogue.memory_bytes(), before + 10'000);
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
