#include "base/nearest.h"

#include <gtest/gtest.h>

namespace forebay {
namespace {

using Names = std::vector<std::string>;

TEST(Nearest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("run01", "run10"), 2u);
}

TEST(Nearest, NamesAFewThatAreNear) {
  EXPECT_EQ(nearest_names("rnu1", Names{"run1", "run2", "run3", "run4", "elsewhere"}), (Names{"run1"}));
  EXPECT_EQ(nearest_names("run", Names{"run4", "run3", "run2", "run1"}), (Names{"run1", "run2", "run3"}));
  EXPECT_EQ(nearest_names("zz", Names{"ls", "agent"}), Names{}) << "two letters that are both wrong";
  EXPECT_EQ(nearest_names(std::string(1 << 20, 'x'), Names{"run"}), Names{});
}

TEST(Nearest, Hint) {
  EXPECT_EQ(nearest_hint("rnu", Names{"run", "prune", "rn"}, "look"), "did you mean rn or run?");
  EXPECT_EQ(nearest_hint("elsewhere", Names{"run"}, "look"), "look");
}

}  // namespace
}  // namespace forebay
