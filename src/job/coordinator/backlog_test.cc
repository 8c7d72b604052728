#include "job/coordinator/backlog.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::vector<WaitingSet> kSets = {{1, 20}, {2, 30}, {3, 10}};

TEST(NextToDrain, TheNewestAloneOrTheOldestFirst) {
  const auto newest = next_to_drain(kSets, Backlog::newest);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->id, 2u);
  EXPECT_THAT(newest->skipped, UnorderedElementsAre(1, 3));
  for (const Backlog backlog : {Backlog::skip, Backlog::block}) {
    const auto oldest = next_to_drain(kSets, backlog);
    ASSERT_TRUE(oldest);
    EXPECT_EQ(oldest->id, 3u);
    EXPECT_THAT(oldest->skipped, IsEmpty());
  }
}

TEST(NextToDrain, OfEqualSetsTheLaterOneIsNewer) {
  const std::vector<WaitingSet> sets = {{1, 4}, {2, 4}};
  EXPECT_EQ(next_to_drain(sets, Backlog::newest)->id, 2u);
  EXPECT_EQ(next_to_drain(sets, Backlog::block)->id, 1u);
  EXPECT_FALSE(next_to_drain({}, Backlog::newest));
}

TEST(Backlog, HasNames) {
  for (const Backlog backlog : {Backlog::newest, Backlog::skip, Backlog::block})
    EXPECT_EQ(parse_backlog(to_string(backlog)), backlog);
  EXPECT_FALSE(parse_backlog("oldest"));
}

}  // namespace
}  // namespace forebay::job
