#include "io/hdf5/plan.h"

#include <gtest/gtest.h>

namespace forebay::hdf5 {
namespace {

Told value(const std::string& name, const std::string& bytes, int32_t type = FOREBAY_METHOD_INT32, uint64_t step = 0) {
  Told told;
  told.step = step;
  told.name = name;
  told.type = type;
  told.bytes = bytes;
  return told;
}

Told array(const std::string& name, std::vector<uint64_t> shape, std::vector<uint64_t> whole = {},
           std::vector<uint64_t> offsets = {}) {
  Told told = value(name, "", FOREBAY_METHOD_FLOAT64);
  told.is_array = true;
  told.is_global = !whole.empty();
  told.shape = std::move(shape);
  told.global_shape = std::move(whole);
  told.offsets = std::move(offsets);
  return told;
}

TEST(Hdf5Plan, NamesBecomePathsAndStepsGroups) {
  EXPECT_EQ(object_path(0, "/a//b/c/"), "a/b/c");
  EXPECT_EQ(object_path(3, "a"), "step_3/a");
  EXPECT_EQ(object_path(0, "/"), "");
  EXPECT_EQ(object_path(3, ""), "");
  EXPECT_EQ(object_path(0, "a/./b"), "");  // which the library would take for a/b
}

TEST(Hdf5Plan, BlocksOfAGlobalArrayShareADataset) {
  const Plan plan = hdf5::plan({{array("x", {2, 3}, {4, 3}, {0, 0})}, {array("x", {2, 3}, {4, 3}, {2, 0})}});
  ASSERT_EQ(plan.datasets.size(), 1u);
  EXPECT_EQ(plan.datasets.at("x").shape, (std::vector<uint64_t>{4, 3}));
  EXPECT_EQ(plan.of_blocks[0][0], plan.of_blocks[1][0]);
  EXPECT_EQ(plan.steps, 1u);
}

TEST(Hdf5Plan, WhatContradictsTheFirstIsRefusedAlone) {
  const Plan plan = hdf5::plan(
      {{array("x", {2}, {4}, {0}), array("y", {1}, {1}, {0})}, {array("x", {2}, {5}, {2}), array("y", {2}, {2}, {0})}});
  EXPECT_EQ(plan.refusals[0], "");
  EXPECT_NE(plan.refusals[1].find("variable \"x\""), std::string::npos);
  EXPECT_NE(plan.of_blocks[0][0], nullptr);
  EXPECT_EQ(plan.of_blocks[1][0], nullptr);
}

TEST(Hdf5Plan, BlocksMayNotReachBeyondTheirArray) {
  constexpr uint64_t kHuge = UINT64_MAX;
  for (const Told& bad : {array("x", {3}, {4}, {2}), array("x", {1}, {4}, {5}), array("x", {kHuge}, {4}, {1}),
                          array("x", {kHuge / 8 + 1}), array("x", {1, 1}, {4, 4}, {0})}) {
    const Plan plan = hdf5::plan({{bad}});
    EXPECT_NE(plan.refusals[0], "");
    EXPECT_EQ(plan.of_blocks[0][0], nullptr);
  }
}

TEST(Hdf5Plan, ValuesThatDifferBecomeAList) {
  const Plan plan =
      hdf5::plan({{value("same", "1111"), value("other", "1111")}, {value("same", "1111"), value("other", "2222")}});
  EXPECT_EQ(plan.datasets.at("same").values, std::vector<std::string>{"1111"});
  EXPECT_FALSE(plan.datasets.at("same").is_list);
  EXPECT_EQ(plan.datasets.at("other").values, (std::vector<std::string>{"1111", "2222"}));
  EXPECT_EQ(plan.datasets.at("other").shape, std::vector<uint64_t>{2});
}

TEST(Hdf5Plan, LocalArraysHaveADatasetForEachRankAndWrite) {
  const Plan plan = hdf5::plan({{array("x", {2}), array("x", {3})}, {array("x", {4})}});
  EXPECT_EQ(plan.datasets.at("x/rank_0").shape, std::vector<uint64_t>{2});
  EXPECT_EQ(plan.datasets.at("x/rank_0_1").shape, std::vector<uint64_t>{3});
  EXPECT_EQ(plan.datasets.at("x/rank_1").shape, std::vector<uint64_t>{4});
}

TEST(Hdf5Plan, MessagesThatEndTooEarlyAreNotUnderstood) {
  const uint64_t shape[] = {2, 3}, whole[] = {4, 3}, offsets[] = {2, 0};
  const forebay_method_block blocks[] = {{.name = "dir/x",
                                          .type = FOREBAY_METHOD_FLOAT64,
                                          .dimensions = 2,
                                          .shape = shape,
                                          .global_shape = whole,
                                          .offsets = offsets,
                                          .transform = "",
                                          .bytes = nullptr,
                                          .size = 0},
                                         {.name = "s",
                                          .type = FOREBAY_METHOD_STRING,
                                          .dimensions = 0,
                                          .shape = nullptr,
                                          .global_shape = nullptr,
                                          .offsets = nullptr,
                                          .transform = "",
                                          .bytes = "text",
                                          .size = 4}};
  const forebay_method_step step{.group = "g",
                                 .time_index_name = "",
                                 .step = 7,
                                 .time_index = 1,
                                 .is_fortran = 0,
                                 .block_count = 2,
                                 .blocks = blocks,
                                 .attribute_count = 0,
                                 .attributes = nullptr};
  const std::string message = to_message({&step, 1});
  std::vector<Told> told;
  ASSERT_TRUE(from_message(message, told));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].offsets, (std::vector<uint64_t>{2, 0}));
  EXPECT_EQ(told[1].bytes, "text");
  EXPECT_EQ(told[1].step, 7u);
  for (size_t length = 1; length < message.size(); ++length) {
    std::vector<Told> cut;
    if (from_message(std::string_view(message).substr(0, length), cut)) {
      EXPECT_EQ(cut.size(), 1u);  // between the two
    }
  }
}

}  // namespace
}  // namespace forebay::hdf5
