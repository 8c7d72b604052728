#include "launch/run/failure_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(FailureGroups, AreKindsWithLabels) {
  EXPECT_THAT(*parse_failure_groups("power=psu1,switch=0"), ElementsAre("power=psu1", "switch=0"));
}

TEST(FailureGroups, AreRefusedByName) {
  for (const char* text : {"", "power", "power=", "=psu1", "power=psu 1", "power=a,,switch=b", "power=a=b"})
    EXPECT_FALSE(parse_failure_groups(text)) << text;
  EXPECT_THAT(parse_failure_groups("power=a,power=b").error().message(), HasSubstr("'power' is given twice"));
}

TEST(FailureGroups, OfNodesComeFromAFile) {
  const auto all = parse_failure_group_file("# racks\nn1 power=a,switch=0\n\n  n2\tpower=b  # new\n", "groups");
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_EQ(all->at("n1"), "power=a,switch=0");
  EXPECT_EQ(all->at("n2"), "power=b");
  EXPECT_EQ(all->size(), 2u);
}

TEST(FailureGroups, OfAFileAreRefusedWithTheLine) {
  for (const auto& [text, line] : {std::pair("n1 power=a\nn2\n", "line 2"), std::pair("n1 power\n", "line 1"),
                                   std::pair("n1 a=1\n\nn1 a=2\n", "line 3"), std::pair("n1 a=1 b=2\n", "line 1")}) {
    const auto all = parse_failure_group_file(text, "the-file");
    ASSERT_FALSE(all) << text;
    EXPECT_THAT(all.error().message(), HasSubstr(line));
    EXPECT_THAT(all.error().message(), HasSubstr("the-file"));
  }
}

}  // namespace
}  // namespace forebay::launch
