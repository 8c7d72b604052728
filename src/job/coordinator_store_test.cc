// What a coordinator makes of a store that fails, or says nothing at all, before a drain begins.
#include <gmock/gmock.h>

#include "job/test_coordinator.h"

namespace forebay::job {
namespace {

using testing::HasSubstr;
using wire::SetState;

class CoordinatorStoreTest : public testing::Test {
 protected:
  const wire::SetNewsT& only_news() {
    if (s.inbox[a].news.size() != 1) throw std::runtime_error("not one piece of news");
    return s.inbox[a].news[0];
  }

  Stand s;
  SessionId a = s.agent("na");
};

TEST_F(CoordinatorStoreTest, AStoreThatCannotBeReadEndsTheSetWithItsError) {
  s.send(a, offer_of("s", {0, 1}, 2, 1));
  for (int i = 0; i < 100 && s.inbox[a].news.empty(); ++i) {
    if (!s.commands.empty()) s.answer(LookedUp{s.take_command<LookUp>().set, fail(ErrorKind::io, "EIO", "/store")});
    s.pass(30s, {a});
  }
  EXPECT_EQ(only_news().state, SetState::failed);
  EXPECT_THAT(only_news().message, HasSubstr("/store: EIO"));
}

TEST_F(CoordinatorStoreTest, AStoreThatDoesNotAnswerEndsTheSet) {
  s.send(a, offer_of("s", {0, 1}, 2, 1));
  s.pass(601s, {a});
  EXPECT_EQ(only_news().state, SetState::failed);
  EXPECT_THAT(only_news().message, HasSubstr("the store does not answer"));
}

TEST_F(CoordinatorStoreTest, ARestartWaitsForACompleteSetThatTheStoreWasAskedAbout) {
  s.send(a, offer_of("s", {0, 1}, 2, 1));
  const auto asked = s.take_command<LookUp>();
  wire::RestartRequestT request;
  request.total = 2;
  request.ranks = {0, 1};
  s.send(a, std::move(request));
  EXPECT_TRUE(s.commands.empty());
  s.answer(LookedUp{asked.set, std::vector<StoredSet>{}});
  EXPECT_EQ(s.take_command<Stage>().name, "s");
}

}  // namespace
}  // namespace forebay::job
