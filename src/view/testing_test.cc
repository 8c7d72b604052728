#include "view/testing.h"

#include <gtest/gtest.h>

namespace forebay::view {
namespace {

TEST(MemoryStep, ReadsABoxOfABlock) {
  MemoryStep step({.number = 0});
  step.add_global<double>("t", {4, 6}, {{0, {{0, 0}, {4, 3}}}, {1, {{0, 3}, {4, 3}}}},
                          [](const Shape& at) { return static_cast<double>(10 * at[0] + at[1]); });
  const auto blocks = step.blocks(0);
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->size(), 2u);
  EXPECT_EQ(step.arrays()[0].characteristics->max, 35);
  std::vector<double> out(4, -1);
  const Piece piece{(*blocks)[1].stored, {{1, 1}, {2, 2}}, std::as_writable_bytes(std::span(out)).data(), {16, 8}};
  ASSERT_TRUE(step.read({&piece, 1}, [](const Piece&, const Error& error) { FAIL() << error.message(); }));
  EXPECT_EQ(out, (std::vector<double>{14, 15, 24, 25}));
}

TEST(MemoryStep, ReadsStackedFlatAndGhostedParts) {
  MemoryStep step({.number = 0});
  std::vector<int32_t> values(24);
  for (int i = 0; i < 24; ++i) values[static_cast<size_t>(i)] = i;
  const auto bytes = std::as_bytes(std::span(values));
  const uint64_t stored = step.add_stored({2, 3, 4}, Bytes(bytes.begin(), bytes.end()));
  const auto read = [&](StoredPart part, Box box) {
    std::vector<int32_t> out(element_count(box.count));
    const Piece piece{part, box, std::as_writable_bytes(std::span(out)).data(), {4 * box.count[1], 4}};
    EXPECT_TRUE(step.read({&piece, 1}, [](const Piece&, const Error&) { FAIL(); }));
    return out;
  };
  EXPECT_EQ(read({stored, {1}, {}, {3, 4}, {}}, {{0, 1}, {2, 2}}), (std::vector<int32_t>{13, 14, 17, 18}));
  EXPECT_EQ(read({stored, {1}, {}, {3, 4}, {1, 1}}, {{0, 0}, {2, 2}}), (std::vector<int32_t>{17, 18, 21, 22}));
  EXPECT_EQ(read({stored, {}, 5, {2, 3}, {}}, {{1, 0}, {1, 3}}), (std::vector<int32_t>{8, 9, 10}));
}

}  // namespace
}  // namespace forebay::view
