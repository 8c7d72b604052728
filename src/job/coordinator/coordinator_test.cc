// A coordinator drains sets: from the offers to the store, through losses and changes; status and the end.
#include <nlohmann/json.hpp>

#include <gmock/gmock.h>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using wire::SetState;

TEST_F(CoordinatorTest, ASetIsDrainedWhenAllRanksAreThere) {
  EXPECT_TRUE(s.inbox[a].welcome);
  offer(a, "s1", {0, 1}, 5);
  s.serve_store();
  EXPECT_TRUE(s.inbox[wa].tasks.empty());
  offer(b, "s1", {2, 3}, 5);
  s.serve_store();
  const wire::TaskT of_a = take_task(wa), of_b = take_task(wb);
  EXPECT_EQ(of_a.peers[0]->node, "na");
  EXPECT_EQ(of_b.peers[0]->node, "nb");
  EXPECT_EQ(of_b.first_rank, 2u);
  EXPECT_EQ(of_a.staged, "staged-s1");
  EXPECT_EQ(of_a.container, "00000-of-00002.fbc");
  s.send(wb, success(of_b, 30));
  EXPECT_TRUE(s.inbox[a].news.empty());
  s.send(wa, success(of_a, 20));
  EXPECT_TRUE(s.inbox[a].news.empty()) << "before the commit";
  s.serve_store();
  for (const SessionId agent : {a, b}) {
    ASSERT_EQ(s.inbox[agent].news.size(), 1u);
    EXPECT_EQ(s.inbox[agent].news[0].state, SetState::durable);
    EXPECT_EQ(s.inbox[agent].news[0].stored_as, "s1");
  }
  const store::Manifest& manifest = s.stored.at("s1");
  EXPECT_EQ(manifest.step, 5);
  EXPECT_EQ(manifest.ranks, 4u);
  EXPECT_EQ(manifest.bytes(), 50u);
  EXPECT_EQ(manifest.containers[1].name, "00001-of-00002.fbc");
  EXPECT_EQ(manifest.sources.size(), 2u);
  EXPECT_FALSE(s.commits[0].has_others);
}

TEST_F(CoordinatorTest, WhereNoSetComesAnyMoreTheLogAndTheStatusSayWhoIsMissing) {
  const SessionId one = s.agent("n1"), two = s.agent("n2"), user = s.join();
  const auto offer_part = [&](SessionId agent, const std::string& set, uint32_t rank, uint64_t number) {
    wire::OfferT part = offer_of(set, {rank}, 2, number);
    part.took_ms = 1000 + static_cast<uint32_t>(number);
    s.send(agent, std::move(part));
    s.serve_store();
  };
  const auto pass = [&](int times) {
    for (int i = 0; i < times; ++i) {
      for (const SessionId agent : {one, two}) {
        wire::PingT ping;
        ping.ranks = 1;
        s.send(agent, std::move(ping));
      }
      s.pass(1s, {user});
    }
  };
  for (uint64_t set = 1; set <= 3; ++set) {
    offer_part(one, "s" + std::to_string(set), 0, set);
    offer_part(two, "s" + std::to_string(set), 1, set);
    pass(30);
  }
  offer_part(one, "s4", 0, 4);
  pass(58);
  EXPECT_THAT(s.log, Not(HasSubstr("no set became complete")));
  pass(3);
  const std::string why = "before that one did every 30.0 s: of set s4 ranks 1 of 2 are missing; not offered by n2";
  EXPECT_THAT(s.log, HasSubstr(why));
  s.send(user, wire::StatusRequestT{});
  EXPECT_THAT(s.inbox[user].status.back(), HasSubstr("\"no_set\":\""));
  offer_part(two, "s4", 1, 4);
  pass(1);
  s.send(user, wire::StatusRequestT{});
  EXPECT_THAT(s.inbox[user].status.back(), Not(HasSubstr("\"no_set\":\"")));
}

TEST_F(CoordinatorTest, OfUnknownRanksTheNumberOfAgentsTells) {
  CoordinatorOptions with = small_groups();
  with.agents = 2;
  Stand t(with);
  const SessionId one = t.agent("n1"), two = t.agent("n2"), worker = t.worker("n1");
  wire::OfferT offered = offer_of("s", {}, 0, 1);
  offered.files.push_back(offered_file("cpu0001", -1));
  t.send(one, std::move(offered));
  t.serve_store();
  EXPECT_TRUE(t.inbox[worker].tasks.empty());
  wire::OfferT second = offer_of("s", {}, 0, 1);
  second.files.push_back(offered_file("cpu0000", -1));
  t.send(two, std::move(second));
  t.serve_store();
  ASSERT_EQ(t.inbox[worker].tasks.size(), 1u);
  const wire::TaskT task = t.inbox[worker].tasks.front();
  EXPECT_EQ(task.files[0]->file->name, "cpu0000");
  EXPECT_EQ(task.files[1]->file->rank, 1);
}

TEST_F(CoordinatorTest, WithoutRanksAndAgentsTheSetIsGivenUp) {
  wire::OfferT offered = offer_of("s", {}, 0, 1);
  offered.files.push_back(offered_file("x", -1));
  s.send(a, std::move(offered));
  s.serve_store();
  EXPECT_THAT(states(a), ElementsAre(SetState::failed));
}

TEST_F(CoordinatorTest, MissingRanksAreNamedWhenTheTimeIsOver) {
  offer(a, "s", {0, 1});
  s.serve_store();
  s.pass(599s, all());
  EXPECT_TRUE(s.inbox[a].news.empty());
  s.pass(2s, all());
  ASSERT_EQ(s.inbox[a].news.size(), 1u);
  EXPECT_EQ(s.inbox[a].news[0].state, SetState::failed);
  EXPECT_THAT(s.inbox[a].news[0].message, testing::AllOf(HasSubstr("ranks 2-3 of 4"), HasSubstr("nb")));
  EXPECT_TRUE(s.commits.empty());
}

TEST_F(CoordinatorTest, ATaskOfALostWorkerGoesToAnotherUnderAnotherName) {
  offer_all("s");
  s.serve_store();
  const wire::TaskT first = take_task(wa);
  s.leave(wa);
  EXPECT_TRUE(s.inbox[wb].cancels.empty());
  s.send(wb, success(take_task(wb)));
  const wire::TaskT again = take_task(wb);
  EXPECT_NE(again.container, first.container);
  EXPECT_EQ(again.first_rank, first.first_rank);
  s.send(wb, success(again));
  s.serve_store();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable));
}

TEST_F(CoordinatorTest, AStalledTaskIsGivenToAnotherWorker) {
  offer_all("s");
  s.serve_store();
  const wire::TaskT slow = take_task(wa);
  s.send(wb, success(take_task(wb)));
  for (int i = 0; i < 3; ++i) {
    s.pass(100s, all());
    wire::TaskProgressT progress;
    progress.id = slow.id;
    progress.raw_bytes = static_cast<uint64_t>(i) + 1;
    s.send(wa, std::move(progress));
  }
  EXPECT_TRUE(s.inbox[wb].tasks.empty());
  s.pass(121s, all());
  EXPECT_THAT(s.inbox[wa].cancels, ElementsAre(slow.id));
  s.send(wb, success(take_task(wb)));
  s.serve_store();
  EXPECT_THAT(states(b), ElementsAre(SetState::durable));
}

TEST_F(CoordinatorTest, ASilentWorkerIsLostAndItsTaskGoesOn) {
  offer_all("s");
  s.serve_store();
  s.pass(11s, {a, b, wb});
  EXPECT_TRUE(s.inbox[wa].closed);
  s.send(wb, success(take_task(wb)));
  EXPECT_EQ(s.inbox[wb].tasks.size(), 1u);
}

TEST_F(CoordinatorTest, AProcessThatWasStoppedTakesNobodyForLost) {
  s.now += 1h;
  s.coordinator.tick(s.now);
  s.collect();
  for (const SessionId id : all()) EXPECT_FALSE(s.inbox[id].closed);
}

TEST_F(CoordinatorTest, AnAgentThatComesBackOffersAgain) {
  offer_all("s");
  s.serve_store();
  const wire::TaskT first = take_task(wa);
  s.leave(a);
  s.send(wa, failure(first, wire::FaultSide::source, ErrorKind::disconnected));
  s.send(wb, success(take_task(wb)));
  s.pass(60s, all());
  EXPECT_TRUE(s.inbox[wa].tasks.empty() && s.inbox[wb].tasks.empty()) << "the agent is away";
  const SessionId back = s.agent("na");
  offer(back, "s", {1, 0});
  s.pass(1s, all());
  const wire::TaskT again = take_task(wa);
  EXPECT_EQ(again.peers[0]->exposure, exposure);
  EXPECT_EQ(again.files[0]->index, 1u);
  s.send(wa, success(again));
  s.serve_store();
  EXPECT_THAT(states(back), ElementsAre(SetState::durable));
}

TEST_F(CoordinatorTest, AnAgentThatDoesNotComeBackEndsTheSet) {
  offer_all("s");
  s.serve_store();
  s.leave(a);
  s.send(wa, failure(take_task(wa), wire::FaultSide::source, ErrorKind::disconnected));
  s.send(wb, success(take_task(wb)));
  s.pass(602s, {b, wa, wb});
  ASSERT_THAT(states(b), ElementsAre(SetState::failed));
  EXPECT_THAT(s.inbox[b].news[0].message, HasSubstr("na"));
  s.serve_store();
  EXPECT_EQ(s.abandoned.size(), 1u);
}

TEST_F(CoordinatorTest, AnAgentThatIsBackIsNotMissedAnyMore) {
  offer_all("s");
  s.serve_store();
  s.leave(a);
  s.pass(300s, all());
  const SessionId back = s.agent("na");
  offer(back, "s", {0, 1});
  for (int i = 0; i < 4; ++i) {
    wire::TaskProgressT progress;
    progress.id = s.inbox[wa].tasks.front().id;
    progress.raw_bytes = static_cast<uint64_t>(i) + 1;
    s.send(wa, std::move(progress));
    progress.id = s.inbox[wb].tasks.front().id;
    progress.raw_bytes = static_cast<uint64_t>(i) + 1;
    s.send(wb, std::move(progress));
    s.pass(100s, {back, b, wa, wb});
  }
  work();
  EXPECT_THAT(states(back), ElementsAre(SetState::durable));
}

TEST_F(CoordinatorTest, ASecondAgentOfAStageTakesThePlaceOfTheFirst) {
  const SessionId again = s.agent("na");
  EXPECT_TRUE(s.inbox[a].closed);
  offer(again, "s", {0, 1});
  offer(b, "s", {2, 3});
  work();
  EXPECT_THAT(states(again), ElementsAre(SetState::durable));
}

TEST_F(CoordinatorTest, ChangedFilesEndTheSetAndAreNamed) {
  offer_all("s");
  s.serve_store();
  s.send(wa, failure(take_task(wa), wire::FaultSide::source, ErrorKind::changed, "/stage/s/rank1: was changed"));
  ASSERT_THAT(states(b), ElementsAre(SetState::failed));
  EXPECT_THAT(s.inbox[b].news[0].message, HasSubstr("rank1"));
  EXPECT_EQ(s.inbox[wb].cancels.size(), 1u);
  s.serve_store();
  EXPECT_TRUE(s.stored.empty());
  EXPECT_EQ(s.abandoned.size(), 1u);
}

TEST_F(CoordinatorTest, AWithdrawnSetIsGivenUpWhileItIsDrained) {
  offer_all("s");
  s.serve_store();
  wire::WithdrawnT withdrawn;
  withdrawn.set = "s";
  withdrawn.exposure = exposure;
  withdrawn.reason = "/stage/s/rank3 was removed";
  s.send(b, std::move(withdrawn));
  ASSERT_THAT(states(a), ElementsAre(SetState::failed));
  EXPECT_THAT(s.inbox[a].news[0].message, HasSubstr("rank3"));
}

TEST_F(CoordinatorTest, AWithdrawnPartOfAnIncompleteSetCanBeOfferedAgain) {
  offer(a, "s", {0, 1});
  wire::WithdrawnT withdrawn;
  withdrawn.set = "s";
  withdrawn.exposure = exposure;
  s.send(a, std::move(withdrawn));
  offer(b, "s", {2, 3});
  s.serve_store();
  EXPECT_TRUE(s.inbox[wa].tasks.empty());
  offer(a, "s", {0, 1});
  work();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable));
}

TEST_F(CoordinatorTest, ASetThatChangesWhileItIsDrainedIsDrainedAnew) {
  offer_all("s");
  s.serve_store();
  const wire::TaskT old = take_task(wa);
  offer(a, "s", {0, 1}, {}, 8);
  EXPECT_THAT(s.inbox[wa].cancels, ElementsAre(old.id));
  s.send(wa, failure(old, wire::FaultSide::other, ErrorKind::cancelled));
  s.inbox[wb].tasks.clear();
  s.send(wb, [&] {
    wire::TaskDoneT done;
    done.id = s.inbox[wb].cancels.front();
    done.failed = true;
    return done;
  }());
  work();
  EXPECT_THAT(states(b), ElementsAre(SetState::durable));
  EXPECT_EQ(s.commits.size(), 1u);
  EXPECT_EQ(s.inbox[a].news[0].exposure, exposure);
}

TEST_F(CoordinatorTest, AnOfferDuringTheCommitIsAnotherSet) {
  offer_all("s");
  s.serve_store();
  s.send(wa, success(take_task(wa)));
  s.send(wb, success(take_task(wb)));
  const auto commit = s.take_command<Commit>();
  offer(a, "s", {0, 1}, {}, 9);
  s.stored["s"] = commit.manifest;
  s.answer(Committed{commit.set, {}});
  ASSERT_EQ(s.inbox[a].news.size(), 1u);
  EXPECT_EQ(s.inbox[a].news[0].exposure, exposure - 2);
  offer(b, "s", {2, 3}, {}, 9);
  work();
  EXPECT_EQ(s.inbox[a].news[1].stored_as, "s+2");
  EXPECT_EQ(s.inbox[a].news[1].exposure, exposure - 1);
}

TEST_F(CoordinatorTest, TheEndWithDrainComesWhenAllIsDone) {
  offer_all("s");
  s.serve_store();
  const SessionId asker = s.join();
  wire::StopRequestT stop;
  stop.drain = true;
  s.send(asker, std::move(stop));
  s.pass(5s, all());
  EXPECT_TRUE(s.inbox[asker].stops.empty());
  work();
  s.pass(2s, all());
  for (const SessionId id : {a, b, wa, wb, asker}) EXPECT_EQ(s.inbox[id].stops.size(), 1u);
  EXPECT_TRUE(s.coordinator.stopped());
  EXPECT_THAT(s.inbox[asker].stops[0], HasSubstr("1 sets are durable"));
}

TEST_F(CoordinatorTest, TheEndWithoutDrainComesAtOnce) {
  offer_all("s");
  s.serve_store();
  s.send(wa, wire::StopRequestT());
  EXPECT_EQ(s.inbox[a].stops.size(), 1u);
  EXPECT_TRUE(s.coordinator.stopped());
}

TEST_F(CoordinatorTest, AStoreThatFillsUpIsWarnedOfOnce) {
  constexpr uint64_t kMiB = 1 << 20;
  const SessionId asker = s.join();
  const auto status = [&] {
    s.send(asker, wire::StatusRequestT());
    return nlohmann::json::parse(s.inbox[asker].status.back());
  };
  EXPECT_TRUE(status()["newest_durable"].is_null());
  for (uint64_t set = 1; set <= 4; ++set) {
    s.room = StoreRoom{(100 - 8 * set) * kMiB, 1000 * kMiB};
    offer_all("s" + std::to_string(set), set);
    work();
    EXPECT_EQ(status()["store_fills"].is_string(), set >= 3);
  }
  EXPECT_EQ(status()["store_room"],
            nlohmann::json({{"free_bytes", 68 * kMiB}, {"capacity_bytes", 1000 * kMiB}, {"left_set_count", 8}}));
  const auto first = s.log.find("the store fills up");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(s.log.find("the store fills up", first + 1), std::string::npos);
  s.pass(5s, {asker, a, b, wa});
  EXPECT_EQ(status()["newest_durable"]["name"], "s4");
  EXPECT_EQ(status()["newest_durable"]["seconds"], 5.0);
}

TEST_F(CoordinatorTest, TheStatusTellsWhatGoesOn) {
  offer_all("s1", 1);
  work();
  offer_all("s2", 2);
  offer(a, "s3", {0, 1}, 3);
  s.serve_store();
  wire::TaskProgressT progress;
  progress.id = s.inbox[wa].tasks.front().id;
  progress.raw_bytes = 77;
  s.send(wa, std::move(progress));
  s.coordinator.count_received(wire::Body::Offer, 100);
  s.coordinator.count_received(wire::Body::Offer, 50);
  s.coordinator.count_sent(wire::Body::Task, 70);
  const SessionId asker = s.join();
  s.send(asker, wire::StatusRequestT());
  ASSERT_EQ(s.inbox[asker].status.size(), 1u);
  const auto json = nlohmann::json::parse(s.inbox[asker].status[0]);
  EXPECT_EQ(json["received"], nlohmann::json::parse(R"({"Offer": {"message_count": 2, "message_bytes": 150}})"));
  EXPECT_EQ(json["sent"], nlohmann::json::parse(R"({"Task": {"message_count": 1, "message_bytes": 70}})"));
  EXPECT_EQ(json["sets"][0]["state"], "packing");
  EXPECT_EQ(json["sets"][0]["raw_bytes"], 77);
  EXPECT_EQ(json["sets"][1]["state"], "incomplete");
  EXPECT_THAT(json["sets"][1]["missing"], HasSubstr("2-3"));
  EXPECT_EQ(json["past_sets"][0]["name"], "s1");
  for (const char* step : {"gather", "stage", "pack", "commit"})
    EXPECT_TRUE(json["past_sets"][0]["seconds_by_step"].contains(step));
  EXPECT_TRUE(json["past_sets"][0]["cpu_seconds_by_stage"].contains("encode"));
  EXPECT_EQ(json["workers"][0]["tasks"][0]["set"], "s2");
  EXPECT_EQ(json["totals"]["durable_count"], 1);
  EXPECT_EQ(json["agents"].size(), 2u);
}

TEST_F(CoordinatorTest, WhoBreaksTheProtocolIsRefused) {
  const auto kind_of = [&](SessionId id, auto body) {
    wire::MessageT message;
    message.body.Set(std::move(body));
    return error(s.coordinator.received(id, std::move(message), s.now)).kind;
  };
  EXPECT_EQ(kind_of(a, wire::AgentHelloT()), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(wa, offer_of("s", {0}, 1, 1)), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(a, wire::TaskDoneT()), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(s.join(), wire::WithdrawnT()), ErrorKind::corrupt);
  EXPECT_EQ(kind_of(a, wire::WelcomeT()), ErrorKind::corrupt);
}

TEST_F(CoordinatorTest, AnAgentCannotFillTheMemory) {
  for (int i = 0; i < 300; ++i) offer(a, "s" + std::to_string(i), {0});
  EXPECT_EQ(s.inbox[a].news.size(), 300u - 256);
  EXPECT_EQ(s.inbox[a].news[0].state, SetState::failed);
  offer(a, ".hidden", {0});
  EXPECT_EQ(s.inbox[a].news.back().state, SetState::failed);
}

TEST_F(CoordinatorTest, AReportThatLiesIsNotBelieved) {
  offer_all("s");
  s.serve_store();
  wire::TaskDoneT done = success(take_task(wa));
  done.report = "{";
  s.send(wa, std::move(done));
  s.pass(2s, all());
  wire::TaskT task = take_task(wa);
  task.container = "../../etc/passwd";
  s.send(wa, success(task));
  s.pass(3s, all());
  s.send(wa, success(take_task(wa)));
  s.send(wb, success(take_task(wb)));
  s.serve_store();
  EXPECT_THAT(states(a), ElementsAre(SetState::durable));
}

}  // namespace
}  // namespace forebay::job
