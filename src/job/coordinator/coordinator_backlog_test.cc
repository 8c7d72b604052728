// Which sets a coordinator drains when there are more than it can.
#include <gmock/gmock.h>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using wire::SetState;

TEST_F(CoordinatorTest, NewestSkipsWhatIsOlder) {
  for (int64_t step = 1; step <= 4; ++step) offer_all("s" + std::to_string(step), step);
  work();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable, SetState::skipped, SetState::skipped, SetState::durable));
  EXPECT_TRUE(s.stored.contains("s1") && s.stored.contains("s4"));
}

TEST_F(CoordinatorTest, NewestIsWhatWasCompletedLastWhateverItsStep) {
  s.pass(1s, all());
  offer_all("s1", 1);
  offer_all("s9", 9);
  offer_all("s8", 8);
  work();
  EXPECT_TRUE(s.stored.contains("s8"));
  EXPECT_FALSE(s.stored.contains("s9"));
  EXPECT_EQ(s.stored.at("s1").ordinal, 1u);
  EXPECT_EQ(s.stored.at("s8").ordinal, 3u) << "s9 had the place between them";
}

class BacklogTest : public CoordinatorTest {
 protected:
  void use(Backlog backlog) {
    CoordinatorOptions with = small_groups();
    with.backlog = backlog;
    with.backlog_sets = 3;
    t = std::make_unique<Stand>(with);
    one = t->agent("na");
    worker = t->worker("na");
    for (int64_t step = 1; step <= 3; ++step) {
      wire::OfferT offered = offer_of("s" + std::to_string(step), {0, 1}, 2, static_cast<uint64_t>(step));
      offered.step = step;
      t->send(one, std::move(offered));
      t->serve_store();
    }
    while (!t->inbox[worker].tasks.empty()) {
      order.push_back(t->inbox[worker].tasks.front().set);
      t->send(worker, success(t->inbox[worker].tasks.front()));
      t->inbox[worker].tasks.pop_front();
      t->serve_store();
    }
  }
  std::unique_ptr<Stand> t;
  SessionId one = 0, worker = 0;
  std::vector<std::string> order;
};

TEST_F(BacklogTest, SkipSkipsWhatComesWhileOneIsDrained) {
  use(Backlog::skip);
  EXPECT_THAT(order, ElementsAre("s1"));
  EXPECT_EQ(t->inbox[one].news[0].state, SetState::skipped);
}

TEST_F(BacklogTest, BlockDrainsAllInOrder) {
  use(Backlog::block);
  EXPECT_THAT(order, ElementsAre("s1", "s2", "s3"));
}

}  // namespace
}  // namespace forebay::job
