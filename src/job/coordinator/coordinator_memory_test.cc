// Rank groups whose catalogue does not fit in a worker's memory.
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::SetState;

wire::TaskDoneT too_large(const wire::TaskT& task) {
  return failure(task, wire::FaultSide::other, ErrorKind::limit, "too many variables");
}

class MemoryTest : public testing::Test {
 protected:
  // Tasks of more than so many ranks fail.
  void work(size_t most) {
    s.serve_store();
    for (int i = 0; i < 200 && s.inbox[a].news.size() == told; ++i) {
      while (!s.inbox[w].tasks.empty()) {
        const wire::TaskT task = s.inbox[w].tasks.front();
        s.inbox[w].tasks.pop_front();
        sizes.push_back(task.files.size());
        s.send(w, task.files.size() > most ? too_large(task) : success(task));
        s.serve_store();
      }
      s.pass(1s, {a, w});
      s.serve_store();
    }
    told = s.inbox[a].news.size();
  }

  uint64_t redrains() {
    s.send(asker, wire::StatusRequestT());
    return nlohmann::json::parse(s.inbox[asker].status.back())["totals"]["redrain_count"];
  }

  Stand s{small_groups(8)};
  SessionId a = s.agent("na"), w = s.worker("na"), asker = s.join();
  std::vector<size_t> sizes;  // of the tasks, in ranks
  size_t told = 0;
};

TEST_F(MemoryTest, AreMadeSmallerUntilTheyFit) {
  s.send(a, offer_of("s1", {0, 1, 2, 3, 4, 5}, 6, 1));
  work(2);
  ASSERT_EQ(s.inbox[a].news.size(), 1u);
  EXPECT_EQ(s.inbox[a].news[0].state, SetState::durable);
  EXPECT_THAT(sizes, ElementsAre(6, 3, 2, 2, 2));
  const store::Manifest& manifest = s.stored.at("s1");
  EXPECT_EQ(manifest.group_size, 2u);
  EXPECT_EQ(manifest.containers.size(), 3u);
  EXPECT_EQ(s.abandoned.size(), 2u);
  EXPECT_EQ(redrains(), 2u);

  sizes.clear();
  s.send(a, offer_of("s2", {0, 1, 2, 3, 4, 5}, 6, 2));
  work(2);
  EXPECT_THAT(sizes, ElementsAre(2, 2, 2)) << "later sets are as the first one";
  EXPECT_EQ(redrains(), 2u);
}

TEST_F(MemoryTest, OfOneRankAreGivenUp) {
  s.send(a, offer_of("s1", {0, 1}, 2, 1));
  work(0);
  ASSERT_EQ(s.inbox[a].news.size(), 1u);
  EXPECT_EQ(s.inbox[a].news[0].state, SetState::failed);
  EXPECT_THAT(s.inbox[a].news[0].message, testing::AllOf(HasSubstr("too many variables"), HasSubstr("one rank alone")));
}

}  // namespace
}  // namespace forebay::job
