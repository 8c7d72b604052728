#include "redundancy/scheme.h"

#include <gtest/gtest.h>

namespace forebay::redundancy {
namespace {

TEST(Protection, IsReadAsItIsWritten) {
  for (const char* text : {"none", "partner", "xor:8", "xor:2", "xor:255", "rs:2:8", "rs:4:16", "rs:254:255"}) {
    const auto parsed = parse_protection(text);
    ASSERT_TRUE(parsed) << text << parsed.error().message();
    EXPECT_EQ(to_text(*parsed), text);
    EXPECT_EQ(*parse_protection(to_text(*parsed)), *parsed);
  }
  EXPECT_EQ(to_text(*parse_protection("xor")), "xor:8");
  EXPECT_EQ(to_text(*parse_protection("rs")), "rs:2:8");
  EXPECT_EQ(to_text(*parse_protection("rs:3")), "rs:3:8");
}

TEST(Protection, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "XOR", "partner:2", "none:1", "xor:", "xor:1", "xor:0", "xor:256", "xor:8:2", "xor:-3",
                           "rs:0", "rs:8", "rs:2:2", "rs:2:256", "rs:2:8:1", "rs:x", "rs: 2", "rs:99999999999"}) {
    const auto parsed = parse_protection(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::invalid_argument) << text;
  }
}

TEST(Protection, SurvivesNoMoreThanAGroupHasOthers) {
  EXPECT_EQ(losses_of({Scheme::none}), 0u);
  EXPECT_EQ(losses_of({Scheme::partner, 8, 2}), 1u);
  EXPECT_EQ(losses_of({Scheme::xor_, 8, 2}), 1u);
  EXPECT_EQ(losses_of({Scheme::rs, 8, 3}), 3u);
  EXPECT_EQ(losses_of({Scheme::rs, 8, 3}, 8), 3u);
  EXPECT_EQ(losses_of({Scheme::rs, 8, 3}, 3), 2u);
  EXPECT_EQ(losses_of({Scheme::rs, 8, 3}, 1), 0u);
}

}  // namespace
}  // namespace forebay::redundancy
