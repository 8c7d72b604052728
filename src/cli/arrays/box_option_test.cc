#include "cli/arrays/box_option.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace forebay::cli {
namespace {

Result<IndexBox> box_of(std::string_view text, const Shape& shape) {
  FOREBAY_TRY(const auto ranges, parse_box(text));
  return box_in(ranges, shape);
}

TEST(BoxOption, ReadsRanges) {
  const Shape shape = {10, 20, 30};
  const auto in = box_of("0:10,5:20,7:8", shape);
  ASSERT_TRUE(in.has_value());
  EXPECT_EQ(in->box.begin, (Shape{0, 5, 7}));
  EXPECT_EQ(in->box.count, (Shape{10, 15, 1}));
  EXPECT_TRUE(in->stride.empty());
  const auto open = box_of(":,3:,:4", shape);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->box.begin, (Shape{0, 3, 0}));
  EXPECT_EQ(open->box.count, (Shape{10, 17, 4}));
  const auto one = box_of("9", {10});
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->box.begin, (Shape{9}));
  EXPECT_EQ(one->box.count, (Shape{1}));
}

// What NumPy answers: first index and how many.
TEST(BoxOption, CountsFromTheEndAndTakesSteps) {
  struct Case {
    const char* text;
    uint64_t begin, count, stride;
  };
  for (const Case& one : std::initializer_list<Case>{{"-5:", 5, 5, 1},
                                                     {":-1", 0, 9, 1},
                                                     {"-1", 9, 1, 1},
                                                     {"-10", 0, 1, 1},
                                                     {"-99:3", 0, 3, 1},
                                                     {"8:99", 8, 2, 1},
                                                     {"::2", 0, 5, 2},
                                                     {"1::3", 1, 3, 3},
                                                     {"0:10:3", 0, 4, 3},
                                                     {"-3::5", 7, 1, 5},
                                                     {"::", 0, 10, 1}}) {
    const auto in = box_of(one.text, {10});
    ASSERT_TRUE(in.has_value()) << one.text;
    EXPECT_EQ(in->box.begin, (Shape{one.begin})) << one.text;
    EXPECT_EQ(in->box.count, (Shape{one.count})) << one.text;
    EXPECT_EQ(in->stride, one.stride == 1 ? Shape{} : Shape{one.stride}) << one.text;
  }
}

TEST(BoxOption, RefusesWhatIsNoRange) {
  for (const char* text :
       {"", ",", "1:2,", "a", "1:b", "1:2:3:4", "1.5", " 1", "::0", "::-1", "--1", "18446744073709551616"})
    EXPECT_FALSE(parse_box(text).has_value()) << text;
}

TEST(BoxOption, RefusesBoxesThatHoldNothingOfTheArray) {
  for (const char* text :
       {"10,0:20", "10:,:", "5:5,:", "6:5,:", ":0,:", "-11,:", ":,-21", "0:1", "0:1,0:1,0:1", "9223372036854775807,0",
        "-9223372036854775808,0", "18446744073709551615,0", "-18446744073709551615,0"})
    EXPECT_FALSE(box_of(text, {10, 20}).has_value()) << text;
  EXPECT_NE(box_of("0:1,20:21", {10, 20}).error().what.find("20:21 in dimension 1"), std::string::npos);
  EXPECT_NE(box_of("0:1", {}).error().what.find("scalar"), std::string::npos);
}

TEST(BoxOption, StepsAreRefusedWhereNobodyTakesThem) {
  const auto ranges = parse_box("::2");
  ASSERT_TRUE(ranges);
  EXPECT_FALSE(dense_box_in(*ranges, {10}));
}

}  // namespace
}  // namespace forebay::cli
