#include "merge/companions.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "merge/similarity.h"

namespace forebay::merge {
namespace {

// Files with arrays of the given paths, types and shapes, one after another.
class Files {
 public:
  struct Array {
    const char *path, *type;
    Shape shape;
  };

  void add(const std::vector<Array>& arrays) {
    Layout layout{.format = "test", .variables = {}};
    uint64_t at = 8;
    for (const Array& array : arrays) {
      const DataType type = *DataType::parse(array.type);
      const uint64_t bytes = element_count(array.shape) * type.size;
      layout.variables.push_back({.path = array.path, .type = type, .shape = array.shape, .extents = {{at, bytes}}});
      at += bytes;
    }
    normalise(layout, at);
    const std::string name = "f" + std::to_string(catalogue_.files.size());
    catalogue_.add({.name = name, .size = at}, layout, Similarity{}.keys(layout));
  }

  // The families by the paths of their first streams.
  std::vector<std::vector<std::string>> families(PlanSpec spec = {.scheme = Scheme::aware}) const {
    spec.share_bytes = 0;
    const Plan plan = *Plan::make(catalogue_, spec);
    std::vector<std::vector<std::string>> all;
    for (const auto& family : companion_groups(plan)) {
      std::vector<std::string> paths;
      for (const uint32_t group : family)
        paths.push_back(catalogue_.paths[catalogue_.variables[plan.groups()[group].streams.front().variable].path]);
      for (const uint32_t group : family) expect_same_frames(plan, plan.groups()[family.front()], plan.groups()[group]);
      std::ranges::sort(paths);
      all.push_back(std::move(paths));
    }
    std::ranges::sort(all);
    return all;
  }

 private:
  static void expect_same_frames(const Plan& plan, const FrameGroup& a, const FrameGroup& b) {
    ASSERT_EQ(a.frame_count, b.frame_count);
    for (uint32_t i = 0; i < a.frame_count; ++i)
      EXPECT_EQ(plan.frames()[a.first_frame + i].raw_bytes, plan.frames()[b.first_frame + i].raw_bytes);
  }

  Catalogue catalogue_;
};

using Families = std::vector<std::vector<std::string>>;

TEST(Companions, AreArraysOfOneShapeInTheSameFiles) {
  Files files;
  for (int file = 0; file < 3; ++file)
    files.add({{"/a", "f8", {20, 30}}, {"/b", "f8", {20, 30}}, {"/other", "f8", {30, 20}}, {"/c", "f8", {20, 30}}});
  EXPECT_EQ(files.families(), (Families{{"/a", "/b", "/c"}}));
}

TEST(Companions, TypesAreNotMixed) {
  Files files;
  files.add({{"/a", "f8", {600}}, {"/b", "f4", {600}}, {"/c", ">f8", {600}}, {"/d", "f4", {600}}, {"/e", "i4", {600}}});
  EXPECT_EQ(files.families(), (Families{{"/b", "/d"}}));
}

TEST(Companions, AVariableThatOneFileLacksHasNone) {
  Files files;
  files.add({{"/a", "f8", {600}}, {"/b", "f8", {600}}});
  files.add({{"/a", "f8", {600}}});
  EXPECT_TRUE(files.families().empty());
  Files crossed;  // as many bytes, in other files
  crossed.add({{"/a", "f8", {600}}});
  crossed.add({{"/b", "f8", {600}}});
  EXPECT_TRUE(crossed.families().empty());
}

TEST(Companions, SeveralArraysOfAKeyMustBeAlikeOneByOne) {
  Files files;  // the same bytes in all, cut differently
  files.add({{"/g0/a", "f8", {600}}, {"/g0/b", "f8", {300}}, {"/g1/a", "f8", {300}}, {"/g1/b", "f8", {600}}});
  EXPECT_TRUE(files.families().empty());
  Files alike;
  alike.add({{"/g0/a", "f8", {600}}, {"/g0/b", "f8", {600}}, {"/g1/a", "f8", {300}}, {"/g1/b", "f8", {300}}});
  EXPECT_EQ(alike.families(), (Families{{"/g0/a", "/g0/b"}}));
}

TEST(Companions, WhatIsSeenAsBytesHasNone) {
  Files files;
  files.add({{"/a", "f8", {600}}, {"/b", "f8", {600}}});
  EXPECT_TRUE(files.families({.scheme = Scheme::agnostic}).empty());
  EXPECT_EQ(files.families({.scheme = Scheme::aware_block}).size(), 1u);
}

TEST(Companions, OfManyFramesHaveAsMany) {
  Files files;
  for (int file = 0; file < 5; ++file) files.add({{"/a", "f8", {7, 90, 11}}, {"/b", "f8", {7, 90, 11}}});
  EXPECT_EQ(files.families({.scheme = Scheme::aware, .block_bytes = 128, .frame_bytes = kMinFrameBytes}).size(), 1u);
}

}  // namespace
}  // namespace forebay::merge
