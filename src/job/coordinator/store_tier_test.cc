#include "job/coordinator/store_tier.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr uint32_t kNobody = 0xffffffff;

store::SetInfo set_of(const std::string& name, int64_t step, uint64_t ranks, const std::string& series = "default") {
  store::Manifest manifest;
  manifest.name = name;
  manifest.step = step;
  manifest.ranks = ranks;
  manifest.group_size = 2;
  manifest.origin.series = series;
  for (uint64_t i = 0; i < (ranks + 1) / 2; ++i)
    manifest.containers.push_back({.name = "container" + std::to_string(i), .bytes = 1, .files = 1});
  return {name, {}, manifest};
}

// Two agents with two ranks each.
Askers two_agents() {
  Askers askers;
  for (const SessionId id : {1, 2}) {
    Asker& asker = askers.all[id];
    asker.id = id;
    asker.node = "node" + std::to_string(id);
    asker.stage = "/stage";
    for (uint32_t i = 0; i < 2; ++i) {
      asker.ranks.push_back(static_cast<uint32_t>(id - 1) * 2 + i);
      askers.by_rank.push_back(id);
    }
  }
  return askers;
}

class StoreTierTest : public testing::Test {
 protected:
  std::optional<TierAnswer> answer() { return tier.answer(now, needs); }
  std::optional<TierAnswer> answer_with(std::vector<store::SetInfo> sets) {
    tier.ask(now, needs);
    tier.listed({std::move(sets)});
    return answer();
  }

  Tier::Time now{100h};
  TierNeeds needs;
  StoreTier tier{"default"};
};

TEST_F(StoreTierTest, NamesTheSetsOfTheSeries) {
  store::SetInfo damaged = set_of("s2", 2, 4);
  damaged.manifest->lost_containers = {"container0"};
  const auto given = answer_with({set_of("s1", 1, 4), damaged, set_of("x9", 9, 4, "other")});
  ASSERT_TRUE(given);
  ASSERT_THAT(given->sets, SizeIs(2));
  EXPECT_EQ(given->sets[0].name, "s1");
  EXPECT_EQ(given->sets[0].ranks, 4u);
  EXPECT_EQ(given->sets[0].wrong, "");
  EXPECT_THAT(given->sets[1].wrong, HasSubstr("repair"));
  EXPECT_THAT(given->left_alone, HasSubstr("other"));
  EXPECT_FALSE(answer()) << "it answers once";
}

TEST_F(StoreTierTest, AStoreThatFailsIsAskedAgainLaterAndLater) {
  tier.ask(now, needs);
  for (const auto pause : {1s, 2s, 4s}) {
    tier.listed({fail(ErrorKind::io, "it hangs")});
    EXPECT_FALSE(answer());
    const size_t commands = needs.commands.size();
    now += pause - 1ms;
    EXPECT_FALSE(answer());
    EXPECT_EQ(needs.commands.size(), commands);
    now += 1ms;
    EXPECT_FALSE(answer());
    EXPECT_EQ(needs.commands.size(), commands + 1);
  }
  tier.listed({std::vector<store::SetInfo>{}});
  ASSERT_TRUE(answer()) << "an empty store is an answer";
}

TEST_F(StoreTierTest, TheAnswerToAnEarlierQuestionDoesNotCount) {
  tier.ask(now, needs);
  tier.forget();
  tier.ask(now, needs);
  tier.listed({std::vector{set_of("s1", 1, 4)}});
  EXPECT_FALSE(answer()) << "s2 may have become durable since";
  tier.listed({std::vector{set_of("s1", 1, 4), set_of("s2", 2, 4)}});
  EXPECT_THAT(answer()->sets, SizeIs(2));
  tier.ask(now, needs);
  tier.forget();
  tier.listed({std::vector{set_of("s1", 1, 4)}});
  EXPECT_FALSE(answer());
}

TEST_F(StoreTierTest, EachContainerGoesToTheAgentsOfItsRanks) {
  const auto given = answer_with({set_of("s1", 1, 4)});
  Askers askers = two_agents();
  askers.by_rank[1] = 2;
  const auto deliveries = tier.deliveries(given->sets[0], askers);
  ASSERT_THAT(deliveries, SizeIs(2));
  EXPECT_EQ(deliveries[1].home, "node2");
  const wire::TaskT task = tier.task(given->sets[0], deliveries[0], askers);
  EXPECT_EQ(task.kind, wire::TaskKind::deliver);
  EXPECT_EQ(task.container, "container0");
  EXPECT_THAT(task.peer_of_rank, ElementsAre(0, 1));
  EXPECT_EQ(task.peers[1]->node, "node2");
  EXPECT_EQ(tier.task(given->sets[0], deliveries[1], askers).first_rank, 2u);
}

TEST_F(StoreTierTest, ASetOfOtherRanksGoesToEachAgentAsAWhole) {
  const auto given = answer_with({set_of("s1", 1, 3)});
  const Askers askers = two_agents();
  const auto deliveries = tier.deliveries(given->sets[0], askers);
  ASSERT_THAT(deliveries, SizeIs(4));
  for (const Delivery& delivery : deliveries) {
    const wire::TaskT task = tier.task(given->sets[0], delivery, askers);
    ASSERT_THAT(task.peers, SizeIs(1));
    EXPECT_EQ(task.peers[0]->node, delivery.home);
    for (const uint32_t peer : task.peer_of_rank) EXPECT_EQ(peer, 0u);
  }
}

TEST_F(StoreTierTest, ARankThatNobodyAskedForIsNobodys) {
  const auto given = answer_with({set_of("s1", 1, 4)});
  Askers askers = two_agents();
  askers.by_rank[3] = 0;
  const auto deliveries = tier.deliveries(given->sets[0], askers);
  EXPECT_THAT(tier.task(given->sets[0], deliveries[1], askers).peer_of_rank, ElementsAre(0, kNobody));
}

}  // namespace
}  // namespace forebay::job
