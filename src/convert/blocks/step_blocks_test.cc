#include "convert/blocks/step_blocks.h"

#include <gtest/gtest.h>

namespace forebay::convert {
namespace {

TEST(TimeIndex, IsTheStepsOwnOrItsPlaceInTheRun) {
  EXPECT_EQ(time_index_of({.number = 4, .time_index = 7}, 0), 7u);
  EXPECT_EQ(time_index_of({.number = 4}, 0), 5u) << "whichever steps are converted, so that others can follow later";
  EXPECT_EQ(time_index_of({.number = 4, .time_index = 7}, 9), 10u) << "they rise";
  EXPECT_EQ(time_index_of({.number = 0, .time_index = UINT32_MAX}, 3), UINT32_MAX);
  EXPECT_EQ(time_index_of({.number = 1}, UINT32_MAX).error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace forebay::convert
