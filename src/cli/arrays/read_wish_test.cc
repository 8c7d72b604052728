#include "cli/arrays/read_wish.h"

#include <gmock/gmock.h>

namespace forebay::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Steps = std::pair<uint64_t, uint64_t>;

Steps steps_of_ten(const char* text) {
  const auto range = parse_steps(text);
  if (!range) return {99, 99};
  return range->of(10).value_or(Steps{77, 77});
}

TEST(ReadWish, StepsAreCountedFromBothEnds) {
  EXPECT_EQ(steps_of_ten("latest"), Steps(9, 10));
  EXPECT_EQ(steps_of_ten("0"), Steps(0, 1));
  EXPECT_EQ(steps_of_ten("-10"), Steps(0, 1));
  EXPECT_EQ(steps_of_ten(":"), Steps(0, 10));
  EXPECT_EQ(steps_of_ten("3:5"), Steps(3, 5));
  EXPECT_EQ(steps_of_ten("-2:"), Steps(8, 10));
  EXPECT_EQ(steps_of_ten(":-1"), Steps(0, 9));
  EXPECT_EQ(steps_of_ten("-11:"), Steps(0, 10));
  EXPECT_EQ(steps_of_ten("8:99"), Steps(8, 10));
  for (const char* none : {"10", "-11", "5:5", "5:3", "10:", ":-10", "9223372036854775807"})
    EXPECT_EQ(steps_of_ten(none), Steps(77, 77)) << none;
  for (const char* bad : {"", "x", "1:x", "1:2:3", "last"}) EXPECT_EQ(steps_of_ten(bad), Steps(99, 99)) << bad;
}

TEST(ReadWish, PointsAreLinesOfIndices) {
  const auto points = parse_points("# x y\n1 2\n\n 3,\t4 # here\r\n5,6");
  ASSERT_TRUE(points) << points.error().what;
  EXPECT_EQ(points->dimensions, 2u);
  EXPECT_THAT(points->indices, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(parse_points("1 2\n3\n").error().what, HasSubstr("line 2 has 1 indices"));
  EXPECT_THAT(parse_points("1 -2\n").error().what, HasSubstr("line 1: '-2' is no index"));
  EXPECT_FALSE(parse_points("# none\n"));
}

}  // namespace
}  // namespace forebay::cli
