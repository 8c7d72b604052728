#include "cli/box_option.h"

#include <gtest/gtest.h>

namespace forebay::cli {
namespace {

Result<engine::Box> box_of(std::string_view text, const Shape& shape) {
  FOREBAY_TRY(const auto ranges, parse_box(text));
  return box_in(ranges, shape);
}

TEST(BoxOption, ReadsRanges) {
  const Shape shape = {10, 20, 30};
  const auto box = box_of("0:10,5:20,7:8", shape);
  ASSERT_TRUE(box.has_value());
  EXPECT_EQ(box->begin, (Shape{0, 5, 7}));
  EXPECT_EQ(box->count, (Shape{10, 15, 1}));
  const auto open = box_of(":,3:,:4", shape);
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->begin, (Shape{0, 3, 0}));
  EXPECT_EQ(open->count, (Shape{10, 17, 4}));
  const auto one = box_of("9", {10});
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->begin, (Shape{9}));
  EXPECT_EQ(one->count, (Shape{1}));
}

TEST(BoxOption, RefusesWhatIsNoRange) {
  for (const char* text : {"", ",", "1:2,", "a", "1:b", "-1:3", "1:2:3", "5:5", "6:5", ":0", "1.5", " 1",
                           "18446744073709551615", "18446744073709551616"})
    EXPECT_FALSE(parse_box(text).has_value()) << text;
}

TEST(BoxOption, RefusesBoxesThatAreNotInTheArray) {
  for (const char* text : {"0:11,0:20", "10,0:20", "10:,:", "0:1", "0:1,0:1,0:1", "18446744073709551614,0"})
    EXPECT_FALSE(box_of(text, {10, 20}).has_value()) << text;
  EXPECT_NE(box_of("0:1,0:21", {10, 20}).error().what.find("0:21 in dimension 1"), std::string::npos);
  EXPECT_NE(box_of("0:1", {}).error().what.find("scalar"), std::string::npos);
}

}  // namespace
}  // namespace forebay::cli
