// An agent with cache levels, and a program that begins sets.
#include <filesystem>

#include <gmock/gmock.h>

#include "job/agent/test_bed.h"
#include "job/client/client.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;
using testing::ElementsAre;
using testing::IsEmpty;
using wire::SetState;

class AgentLevelsTest : public TempTest {
 protected:
  AgentLevelsTest() { ::setenv("FOREBAY_AGENT_TIMEOUT", "0", 1); }
  ~AgentLevelsTest() override { agent_.reset(); }

  void start(std::vector<LevelOptions> levels, unsigned keep = 2, uint64_t capacity = 0) {
    AgentOptions options;
    options.stage = path("stage");
    options.rendezvous = path("rendezvous");
    options.credentials = credentials();
    options.listen = {{fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}};
    options.keep = keep;
    options.capacity = capacity;
    options.levels = std::move(levels);
    agent_ = std::make_unique<AgentProcess>(options);
    agent_->start();
    coordinator_ = std::make_unique<ScriptedCoordinator>(path("rendezvous"));
  }

  // A set of one rank, of 1,000 bytes, which becomes durable.
  void dump(int step, const std::string& level = {}, SetState state = SetState::durable) {
    const std::string set = "s" + std::to_string(step);
    if (!client_) client_ = value(Client::connect(path("stage"), 0, 1));
    wire::SetPolicyT policy;
    policy.write = static_cast<uint64_t>(step) + 1;
    policy.level = level;
    check(client_->begin(set, step, 5s, &policy));
    write_text(value(client_->path("file")), std::string(1000, 'x'));
    check(client_->complete());
    const auto offer = coordinator_->next_offer(set);
    ASSERT_TRUE(offer);
    told_[set] = offer->level;
    if (state == SetState::incomplete) return;
    coordinator_->say_state(*offer, state);
    EXPECT_TRUE(eventually([&] { return value(client_->wait(set, 5s)).state == state; }));
  }

  // The sets that lie there, without what tells two of a name apart.
  std::vector<std::string> sets_on(const std::string& level) const {
    std::vector<std::string> sets;
    for (const auto& entry : fs::directory_iterator(level))
      if (const std::string name = entry.path().filename(); !name.starts_with('.'))
        sets.push_back(name.substr(0, name.find('.')));
    std::ranges::sort(sets);
    return sets;
  }
  std::vector<std::string> in_stage() const { return sets_on(path("stage")); }

  std::map<std::string, std::string> told_;  // on which level the coordinator has heard that a set lies
  std::unique_ptr<AgentProcess> agent_;
  std::unique_ptr<ScriptedCoordinator> coordinator_;
  std::unique_ptr<Client> client_;
};

TEST_F(AgentLevelsTest, EachLevelKeepsItsOwnSets) {
  start({{path("ssd"), 3, 2}}, 1);
  for (int step = 1; step <= 7; ++step) dump(step);
  EXPECT_TRUE(eventually([&] { return in_stage() == std::vector<std::string>{"s3", "s6", "s7"}; })) << "two are links";
  EXPECT_THAT(sets_on(path("ssd")), ElementsAre("s3", "s6"));
  EXPECT_TRUE(fs::is_symlink(path("stage/s6")));
  EXPECT_EQ(fs::file_size(path("stage/s6/file")), 1000u);
  for (int step = 8; step <= 9; ++step) dump(step);
  EXPECT_TRUE(eventually([&] { return sets_on(path("ssd")) == std::vector<std::string>{"s6", "s9"}; }));
  EXPECT_TRUE(eventually([&] { return fs::is_empty(path("ssd/.forebay-bin")); }));
}

TEST_F(AgentLevelsTest, ASetLiesWhereItAsksTo) {
  start({});
  dump(1, path("asked"));
  dump(2, path("nothing/at/asked"));
  EXPECT_THAT(sets_on(path("asked")), ElementsAre("s1"));
  EXPECT_EQ(told_["s1"], path("asked"));
  EXPECT_EQ(told_["s2"], "");
  EXPECT_FALSE(fs::is_symlink(path("stage/s2"))) << "there is no such place";
  EXPECT_TRUE(fs::exists(path("stage/s2/file")));
}

TEST_F(AgentLevelsTest, OlderSetsMakeRoom) {
  start({{path("ssd"), 1, 9, 2500}}, 1);
  dump(1);
  dump(2);
  EXPECT_THAT(sets_on(path("ssd")), ElementsAre("s1", "s2"));
  dump(3);
  EXPECT_THAT(sets_on(path("ssd")), ElementsAre("s2", "s3"));
}

TEST_F(AgentLevelsTest, TheStageHasACapacityToo) {
  start({}, 9, 1500);
  dump(1);
  dump(2);
  dump(3);
  EXPECT_THAT(in_stage(), ElementsAre("s2", "s3")) << "the newest one always stays, whatever the capacity";
}

TEST_F(AgentLevelsTest, WaitsForASetThatIsNotDurableYet) {
  start({{path("ssd"), 1, 9, 1500}});
  dump(1, {}, SetState::incomplete);
  const auto late = client_->begin("s2", 2, 200ms);
  EXPECT_EQ(late.error().kind, ErrorKind::timeout);
}

TEST_F(AgentLevelsTest, WhatIsBegunAnewTakesNothingFromOthers) {
  start({{path("ssd"), 1, 9, 2500}});
  dump(1, {}, SetState::cached);
  dump(2, {}, SetState::cached);
  dump(2, {}, SetState::incomplete);
  EXPECT_THAT(sets_on(path("ssd")), ElementsAre("s1", "s2"));
}

TEST_F(AgentLevelsTest, ALevelThatIsEmptiedLosesItsSetsAndNoMore) {
  start({{path("ssd"), 1, 9}});
  dump(1);
  fs::remove_all(path("ssd/" + fs::read_symlink(path("stage/s1")).filename().string()));
  dump(1);
  EXPECT_TRUE(fs::exists(path("stage/s1/file")));
  fs::remove_all(path("ssd"));
  dump(2);
  EXPECT_TRUE(fs::exists(path("stage/s2/file"))) << "in the stage";
}

TEST_F(AgentLevelsTest, TheStageIsNoLevelOfItsOwn) {
  fs::create_directory(path("real"));
  fs::create_symlink(path("real"), path("alias"));
  start({});
  fs::create_symlink(path("stage"), path("real/stage"));
  dump(1, path("alias/stage"));
  EXPECT_THAT(in_stage(), ElementsAre("s1"));
  EXPECT_FALSE(fs::is_symlink(path("stage/s1")));
}

TEST_F(AgentLevelsTest, TheNextAgentCountsWhatIsThere) {
  start({{path("ssd"), 1, 9, 2500}});
  dump(1);
  dump(2);
  client_.reset();
  agent_->kill();
  coordinator_ = nullptr;
  coordinator_ = std::make_unique<ScriptedCoordinator>(path("rendezvous"), 2);
  agent_->start();
  dump(3);
  EXPECT_THAT(sets_on(path("ssd")), ElementsAre("s2", "s3"));
}

TEST_F(AgentLevelsTest, TheNextAgentKnowsWhereSetsLie) {
  start({{path("ssd"), 2, 1}}, 1);
  for (int step = 1; step <= 3; ++step) dump(step);
  client_.reset();
  agent_->kill();
  coordinator_ = nullptr;
  coordinator_ = std::make_unique<ScriptedCoordinator>(path("rendezvous"), 2);
  agent_->start();
  EXPECT_THAT(sets_on(path("ssd")), ElementsAre("s2"));
  for (int step = 4; step <= 5; ++step) dump(step);
  EXPECT_TRUE(eventually([&] { return sets_on(path("ssd")) == std::vector<std::string>{"s5"}; }))
      << "the second of this agent";
  EXPECT_TRUE(eventually([&] { return in_stage() == std::vector<std::string>{"s4", "s5"}; }));
}

}  // namespace
}  // namespace forebay::job
