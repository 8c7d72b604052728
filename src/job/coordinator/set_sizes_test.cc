#include "job/coordinator/set_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using testing::HasSubstr;

TEST(SetSizes, FarFewerFilesOrBytesThanBeforeAreSuspect) {
  SetSizes sizes;
  EXPECT_EQ(sizes.judge({1, 10}), "") << "nothing is known of the first";
  EXPECT_EQ(sizes.judge({3, 3000}), "");
  EXPECT_THAT(sizes.judge({1, 2900}), HasSubstr("1 files of 2900 bytes, and the set before it had 3 of 3000"));
  EXPECT_EQ(sizes.judge({3, 3100}), "");
  EXPECT_THAT(sizes.judge({3, 1500}), HasSubstr("1500 bytes"));
  EXPECT_EQ(sizes.judge({2, 1600}), "") << "more than half of both";
}

TEST(SetSizes, TheSecondSmallOneInARowIsWhatTheApplicationWritesNow) {
  SetSizes sizes;
  EXPECT_EQ(sizes.judge({8, 8000}), "");
  EXPECT_NE(sizes.judge({2, 2000}), "");
  EXPECT_EQ(sizes.judge({2, 2000}), "");
  EXPECT_EQ(sizes.judge({2, 2100}), "");
}

TEST(SetSizes, EachSmallerOneInARowIsSuspect) {
  SetSizes sizes;
  EXPECT_EQ(sizes.judge({8, 8000}), "");
  EXPECT_NE(sizes.judge({8, 3000}), "");
  EXPECT_NE(sizes.judge({8, 1000}), "");
}

}  // namespace
}  // namespace forebay::job
