#include "fabric/strangers.h"

#include <gtest/gtest.h>

namespace forebay::fabric {
namespace {

using namespace std::chrono_literals;

constexpr Strangers::Time kSoon{10s};

TEST(Strangers, HaveRoomUntilASourceHasItsShare) {
  Strangers strangers({.all = 10, .of_source = 3});
  for (uint64_t id = 1; id <= 3; ++id) {
    EXPECT_FALSE(strangers.in_the_way_of("a"));
    strangers.add(id, "a", kSoon);
  }
  EXPECT_EQ(strangers.in_the_way_of("a"), 1u) << "the oldest";
  EXPECT_FALSE(strangers.in_the_way_of("b")) << "others have room";
  strangers.remove(1);
  EXPECT_FALSE(strangers.in_the_way_of("a"));
  strangers.add(4, "a", kSoon);
  EXPECT_EQ(strangers.in_the_way_of("a"), 2u);
}

TEST(Strangers, MakeRoomWhereMostAre) {
  Strangers strangers({.all = 6, .of_source = 4});
  strangers.add(1, "honest", kSoon);
  for (uint64_t id = 2; id <= 4; ++id) strangers.add(id, "many", kSoon);
  strangers.add(5, "two", kSoon);
  strangers.add(6, "two", kSoon);
  EXPECT_EQ(strangers.in_the_way_of("honest"), 2u) << "an older one of a source that has fewer stays";
  EXPECT_EQ(strangers.in_the_way_of("new"), 2u);
  strangers.remove(2);
  EXPECT_FALSE(strangers.in_the_way_of("new"));
}

TEST(Strangers, AreForgottenOnce) {
  Strangers strangers({.all = 2, .of_source = 2});
  strangers.add(1, "a", kSoon);
  strangers.add(2, "a", kSoon);
  strangers.remove(7);
  strangers.remove(2);
  strangers.remove(2);
  EXPECT_EQ(strangers.size(), 1u);
  EXPECT_FALSE(strangers.in_the_way_of("a"));
  strangers.remove(1);
  EXPECT_EQ(strangers.size(), 0u);
  EXPECT_EQ(strangers.next_deadline(), Strangers::Time::max());
}

TEST(Strangers, HaveTheirTime) {
  Strangers strangers({});
  EXPECT_FALSE(strangers.late(kSoon));
  strangers.add(1, "a", kSoon);
  strangers.add(2, "b", kSoon + 1s);
  EXPECT_EQ(strangers.next_deadline(), kSoon);
  EXPECT_FALSE(strangers.late(kSoon - 1ms));
  EXPECT_EQ(strangers.late(kSoon), 1u);
  strangers.remove(1);
  EXPECT_EQ(strangers.next_deadline(), kSoon + 1s);
}

}  // namespace
}  // namespace forebay::fabric
