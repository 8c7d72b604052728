#include "job/coordinator/set_announcements.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using testing::SizeIs;

TEST(SetAnnouncements, GoToAllInOrderAFewAtATime) {
  SetAnnouncements announcements;
  for (const char* name : {"s1", "s2", "s3"}) {
    wire::SetNewsT news;
    news.set = name;
    news.ordinal = 7;
    const std::vector<SetAnnouncements::Listener> listeners = {{1, 11}, {2, 12}, {3, 13}};
    announcements.add(std::move(news),
                      std::string(name) == "s2" ? std::vector<SetAnnouncements::Listener>() : listeners);
  }
  std::string said;
  for (size_t size : {2, 2, 2}) {
    const auto next = announcements.take(2);
    ASSERT_THAT(next, SizeIs(size));
    for (const auto& [to, news] : next) {
      said += news.set + " to " + std::to_string(to) + "; ";
      EXPECT_EQ(news.exposure, to + 10);
      EXPECT_EQ(news.ordinal, 7u);
    }
  }
  EXPECT_EQ(said, "s1 to 1; s1 to 2; s1 to 3; s3 to 1; s3 to 2; s3 to 3; ");
  EXPECT_TRUE(announcements.empty());
  EXPECT_THAT(announcements.take(2), SizeIs(0));
}

}  // namespace
}  // namespace forebay::job
