// What was counted survives who counted it.
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

nlohmann::json totals_of(Stand& stand) {
  const SessionId asker = stand.join();
  stand.send(asker, wire::StatusRequestT{});
  return nlohmann::json::parse(stand.inbox[asker].status.back())["totals"];
}

// What that agent tells the next coordinator.
std::unique_ptr<wire::TallyT> told(Stand& stand, SessionId agent) {
  return std::make_unique<wire::TallyT>(*stand.inbox[agent].news.back().tally);
}

class TallyTest : public CoordinatorTest {
 protected:
  void drain(const std::string& set, int64_t step) {
    offer_all(set, step);
    work();
  }
};

TEST_F(TallyTest, TheNextCoordinatorGoesOnCounting) {
  drain("s1", 1);
  drain("s2", 2);
  Stand next(small_groups(), 2);
  next.agent("na", "/stage", told(s, a));
  next.agent("nb", "/stage", told(s, b));
  EXPECT_EQ(totals_of(next)["durable"], 2);
  EXPECT_EQ(totals_of(next)["stored_bytes"], totals_of(s)["stored_bytes"]);
  EXPECT_EQ(totals_of(next)["raw_bytes"], totals_of(s)["raw_bytes"]);

  const SessionId other = next.agent("nc"), worker = next.worker("nc");
  next.send(other, offer_of("s3", {0}, 1, 7));
  next.serve_store();
  next.send(worker, success(next.inbox[worker].tasks.front()));
  next.serve_store();
  EXPECT_EQ(totals_of(next)["durable"], 3);
  ASSERT_EQ(next.inbox[other].news.size(), 1u);
  EXPECT_EQ(next.inbox[other].news[0].tally->durable, 3u) << "and the one after it, too";
  EXPECT_EQ(next.inbox[other].news[0].tally->generation, 2u);
}

// The coordinator died before it could tell all of them.
TEST_F(TallyTest, ASetThatNotAllAgentsHaveHeardOfIsCountedOnce) {
  drain("s1", 1);
  const auto before = told(s, b);
  drain("s2", 2);
  Stand next(small_groups(), 2);
  next.stored = s.stored;
  next.agent("na", "/stage", told(s, a));
  const SessionId late = next.agent("nb", "/stage", std::make_unique<wire::TallyT>(*before));
  wire::OfferT again = offer_of("s2", {2, 3}, 4, 9);
  next.send(late, std::move(again));
  next.serve_store();
  next.pass(25s, {late});
  ASSERT_EQ(next.inbox[late].news.size(), 1u);
  EXPECT_EQ(totals_of(next)["durable"], 2);
}

TEST_F(TallyTest, AnAgentThatComesLateBringsWhatWasCountedMeanwhile) {
  drain("s1", 1);
  drain("s2", 2);
  Stand next(small_groups(), 2);
  next.stored = s.stored;
  const SessionId forgot = next.agent("nb");
  next.send(forgot, offer_of("s2", {2, 3}, 4, 9));
  next.serve_store();
  next.pass(25s, {forgot});
  EXPECT_EQ(totals_of(next)["durable"], 1);
  next.agent("na", "/stage", told(s, a));
  EXPECT_EQ(totals_of(next)["durable"], 2);
}

TEST_F(TallyTest, WhatThisCoordinatorHasToldIsNotLearnt) {
  drain("s1", 1);
  auto tally = told(s, a);
  s.leave(a);
  s.agent("na", "/stage", std::move(tally));
  EXPECT_EQ(totals_of(s)["durable"], 1);
}

}  // namespace
}  // namespace forebay::job
