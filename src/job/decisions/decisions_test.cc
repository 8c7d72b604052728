// Records to facts and back, and the log's files between coordinators.
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <random>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "job/decisions/decision_log.h"
#include "job/decisions/log_writer.h"
#include "job/test_job.h"
#include "store/files.h"
#include "store/sealed_text.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using namespace decided;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string set_name(uint64_t number) { return "s" + std::to_string(number); }

Decision any_decision(std::mt19937_64& random) {
  const auto below = [&](uint64_t most) { return random() % most; };
  const std::string set = set_name(below(400));
  switch (below(12)) {
    case 11:
      return NotStored{set, "why", below(1000), below(2) == 0};
    case 9:
      return Refused{set, "why", below(3), below(3), below(2) == 0};
    case 10:
      return PutAside{set, "why", below(2) == 0};
    case 0:
      return Excluded{"n" + std::to_string(below(5))};
    case 8:
      return Sealed{set, below(600)};
    case 1:
      return Answered{below(3), below(3)};
    case 2:
    case 3:
      return Ended{.set = set,
                   .end = static_cast<End>(below(4)),
                   .stored_as = set,
                   .raw_bytes = below(1000),
                   .stored_bytes = below(100),
                   .is_counted = below(4) != 0,
                   .owes_flush = below(4) == 0};
    default: {
      Whole whole{.set = set,
                  .write = below(3),
                  .ordinal = below(1000),
                  .is_due = below(2) == 0,
                  .is_counted = below(2) == 0,
                  .sample = {}};
      if (below(2) == 0)
        whole.sample = Pace::Set{set, static_cast<double>(below(100)) / 7, static_cast<double>(below(3))};
      return whole;
    }
  }
}

Facts fold(const std::vector<Decision>& records) {
  Facts facts;
  for (const Decision& record : records) facts.apply(record);
  return facts;
}

TEST(Decisions, EveryPrefixFoldsAndGoesThroughText) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Facts facts;
    std::vector<Decision> records;
    for (int i = 0; i < 600; ++i) {
      records.push_back(any_decision(random));
      facts.apply(records.back());
      if (i % 50 != 0) continue;
      EXPECT_EQ(value(parse_decisions(seal_decisions(records), "log")), records);
      const auto sum = records_of(facts);
      EXPECT_EQ(fold(sum), facts) << "seed " << seed << ", record " << i;
      EXPECT_EQ(fold(value(parse_decisions(seal_decisions(sum), "log"))), facts);
      EXPECT_LE(facts.wholes.size(), Facts::kMostSets);
    }
  }
}

TEST(Decisions, ADurableSetThatEndsTwiceIsCountedOnce) {
  const Ended once{.set = "a", .end = End::durable, .stored_as = "a+2", .raw_bytes = 10, .stored_bytes = 3};
  const Facts facts = fold({once, once, Ended{.set = "b", .end = End::skipped}, Answered{}});
  EXPECT_EQ(facts.sums.counts.durable, 1u);
  EXPECT_EQ(facts.sums.counts.skipped, 1u);
  EXPECT_EQ(facts.sums.counts.restarts, 1u);
}

TEST(Decisions, OneOfEverySoManySetsIsDueWhoeverCounts) {
  Facts facts;
  std::vector<uint64_t> due;
  for (uint64_t set = 1; set <= 9; ++set) {
    const bool is_due = facts.is_due(3);
    if (is_due) due.push_back(set);
    const Whole whole{
        .set = set_name(set), .write = set, .ordinal = set, .is_due = is_due, .is_counted = true, .sample = {}};
    facts.apply(whole);
    facts.apply(whole);  // it was complete again
    if (set == 6) facts.apply(Ended{.set = "s6", .end = End::failed, .owes_flush = true});
    facts = fold(records_of(facts));
  }
  EXPECT_THAT(due, ElementsAre(3u, 6u, 7u));
  EXPECT_FALSE(facts.is_due(0));
}

TEST(Decisions, WhatIsRefusedAndThenDeletedIsDeleted) {
  Facts facts = fold({Refused{"s1", "NaN", 7, 0, false}, Refused{"s1", "deleted", 7, 0, true}});
  EXPECT_THAT(facts.refused, ElementsAre(Refused{"s1", "deleted", 7, 0, true}));
  facts.apply(Refused{"s1", "NaN", 7, 0, false});
  EXPECT_THAT(facts.refused, ElementsAre(Refused{"s1", "deleted", 7, 0, true}));
}

TEST(Decisions, WhatIsRefusedByItsNameIsSoUntilItIsWholeAnew) {
  Facts facts = fold({Refused{"s1", "NaN"}, Refused{"s2", "NaN", 7}, Whole{.set = "s3", .write = 9, .sample = {}}});
  EXPECT_TRUE(facts.is_newest_refused("s1", false));
  EXPECT_FALSE(facts.is_newest_refused("s1", true));
  EXPECT_TRUE(facts.is_newest_refused("s2", false));
  EXPECT_FALSE(facts.is_newest_refused("s3", false));
  for (const char* set : {"s1", "s2"}) facts.apply(Whole{.set = set, .write = 8, .sample = {}});
  EXPECT_FALSE(facts.is_newest_refused("s1", false));
  EXPECT_FALSE(facts.is_newest_refused("s2", false));
  EXPECT_EQ(fold(records_of(facts)), facts);
}

TEST(Decisions, WhatIsNoRecordIsRefused) {
  const auto refuses = [](const nlohmann::json& records) {
    const std::string text = store::seal("forebay-decisions", {{"version", 1}, {"records", records}});
    const auto parsed = parse_decisions(text, "rv/decisions.1/1");
    if (parsed) return std::string();
    EXPECT_EQ(parsed.error().kind, ErrorKind::corrupt);
    return parsed.error().message();
  };
  using nlohmann::json;
  EXPECT_EQ(refuses(json::array()), "");
  const auto record = [&](json body) { return refuses(json::array({std::move(body)})); };
  EXPECT_EQ(record({{"is", "answered"}, {"generation", 1}, {"round", 2}, {"place", 0}}), "");
  EXPECT_THAT(refuses(7), HasSubstr("no list"));
  EXPECT_THAT(record(7), HasSubstr("no object"));
  EXPECT_THAT(record({{"is", "forgotten"}}), HasSubstr("no kind"));
  EXPECT_THAT(record({{"is", 3}}), HasSubstr("no kind"));
  EXPECT_THAT(record({{"host", "n1"}}), HasSubstr("no kind"));
  EXPECT_THAT(record({{"is", "excluded"}}), HasSubstr("'host'"));
  EXPECT_THAT(record({{"is", "excluded"}, {"host", std::string(5000, 'x')}}), HasSubstr("'host'"));
  EXPECT_THAT(record({{"is", "closed"}, {"by", -1}}), HasSubstr("'by'"));
  const auto as_json = [](const Decision& decision) {
    const std::string text = seal_decisions(std::span(&decision, 1));
    return json::parse(text.substr(text.find('\n')))["records"][0];
  };
  EXPECT_THAT(record(as_json(Whole{.set = "s", .ordinal = UINT64_MAX, .sample = {}})), HasSubstr("impossible place"));
  json sums = as_json(Sums{});
  EXPECT_EQ(record(sums), "");
  sums["pace"]["costs"] = std::vector<double>(1000, 1.0);
  EXPECT_THAT(record(sums), HasSubstr("'pace.costs'"));
}

TEST(Decisions, AFlippedByteIsSeen) {
  const std::string text = seal_decisions(std::vector<Decision>{Excluded{"n1"}, Answered{}});
  for (size_t i = 0; i < text.size(); ++i) {
    std::string torn = text;
    torn[i] = static_cast<char>(torn[i] ^ 1);
    EXPECT_FALSE(parse_decisions(torn, "log")) << i;
    EXPECT_FALSE(parse_decisions(text.substr(0, i), "log")) << i;
  }
}

class DecisionLogTest : public TempTest {
 protected:
  DecisionLogTest() { std::filesystem::create_directory(path("rv")); }
  DecisionLog::Start open(uint64_t generation, const std::string& run = "run") {
    return value(DecisionLog::open(path("rv"), generation, run));
  }
  static bool append(DecisionLog& log, std::vector<Decision> records) { return value(log.append(records)); }
};

TEST_F(DecisionLogTest, TheNextCoordinatorReadsWhatTheOneBeforeHasDecided) {
  auto first = open(1);
  EXPECT_EQ(first.facts, Facts());
  EXPECT_TRUE(append(first.log, {Excluded{"n1"}}));
  EXPECT_TRUE(append(first.log, {Answered{}, Excluded{"n2"}}));
  auto second = open(2);
  EXPECT_THAT(second.facts.excluded, ElementsAre("n1", "n2"));
  EXPECT_EQ(second.facts.sums.counts.restarts, 1u);
  EXPECT_THAT(second.warnings, IsEmpty());
  EXPECT_EQ(open(3).facts, second.facts) << "it begins with what it has read";
}

TEST_F(DecisionLogTest, AReplacedCoordinatorFindsItsNumberTaken) {
  auto first = open(1);
  EXPECT_TRUE(append(first.log, {Excluded{"n1"}}));
  auto second = open(2);
  EXPECT_FALSE(append(first.log, {Excluded{"n2"}}));
  EXPECT_FALSE(append(first.log, {Excluded{"n2"}}));
  EXPECT_TRUE(append(second.log, {Excluded{"n3"}}));
  EXPECT_THAT(open(3).facts.excluded, ElementsAre("n1", "n3"));
  EXPECT_EQ(DecisionLog::open(path("rv"), 2, "run").error().kind, ErrorKind::cancelled);
}

// It was elected, and slept before it began its log.
TEST_F(DecisionLogTest, WhoHasNotBegunItsLogIsShutOut) {
  auto first = open(1);
  EXPECT_TRUE(append(first.log, {Excluded{"n1"}}));
  auto third = open(3);
  EXPECT_THAT(third.facts.excluded, ElementsAre("n1"));
  EXPECT_FALSE(append(first.log, {Excluded{"n2"}}));
  EXPECT_EQ(DecisionLog::open(path("rv"), 2, "run").error().kind, ErrorKind::cancelled);
  std::filesystem::remove_all(path("rv/decisions.3"));  // as it was before the third began
  EXPECT_EQ(DecisionLog::open(path("rv"), 2, "run").error().kind, ErrorKind::cancelled);
}

TEST_F(DecisionLogTest, AnotherRunBeginsFromNothing) {
  auto first = open(1);
  EXPECT_TRUE(append(first.log, {Excluded{"n1"}}));
  EXPECT_EQ(open(2, "another").facts, Facts());
}

// An append that failed after the file had got its name.
TEST_F(DecisionLogTest, WhatIsTriedAgainIsThereOnce) {
  auto first = open(1);
  EXPECT_TRUE(append(first.log, {Answered{}}));
  std::filesystem::copy(path("rv/decisions.1/2"), path("rv/decisions.1/3"));
  EXPECT_TRUE(append(first.log, {Answered{}}));
  EXPECT_EQ(open(2).facts.sums.counts.restarts, 2u);
}

TEST_F(DecisionLogTest, OneFileTakesThePlaceOfMany) {
  auto first = open(1);
  Facts facts;
  for (int i = 0; i < 600; ++i) {
    const std::vector<Decision> records{
        Whole{.set = set_name(i % 20), .write = 1, .ordinal = uint64_t(i), .sample = {}}, Answered{}};
    for (const Decision& record : records) facts.apply(record);
    EXPECT_TRUE(append(first.log, records));
  }
  EXPECT_LT(value(store::names_in(path("rv/decisions.1"))).size(), 257u);
  EXPECT_EQ(open(2).facts, facts);
  EXPECT_EQ(value(store::names_in(path("rv/decisions.1"))).size(), 1u) << "what closes it stays";
}

TEST_F(DecisionLogTest, WhatCannotBeReadIsSaidAndLeftOut) {
  auto first = open(1);
  for (const char* host : {"n1", "n2", "n3"}) EXPECT_TRUE(append(first.log, {Excluded{host}}));
  std::ofstream(path("rv/decisions.1/3")) << "torn";
  std::ofstream(path("rv/decisions.1/notes")) << "somebody's";
  const auto second = open(2);
  EXPECT_THAT(second.facts.excluded, ElementsAre("n1", "n3"));
  EXPECT_THAT(second.warnings, ElementsAre(HasSubstr("decisions.1/3")));
  DecisionLog::remove_from(path("rv"));
  EXPECT_THAT(value(store::names_in(path("rv"))), ElementsAre("decisions.1")) << "with what is not ours";
}

TEST_F(DecisionLogTest, WithoutItsBeginningALogIsOfNobodyKnowsWhichRun) {
  auto first = open(1);
  EXPECT_TRUE(append(first.log, {Excluded{"n1"}}));
  std::ofstream(path("rv/decisions.1/1")) << "torn";
  const auto second = open(2);
  EXPECT_EQ(second.facts, Facts());
  EXPECT_THAT(second.warnings, ElementsAre(HasSubstr("decisions.1/1")));
}

TEST_F(DecisionLogTest, WhatTheFileSystemDoesNotGiveIsNotTakenForLost) {
  auto first = open(1);
  EXPECT_TRUE(append(first.log, {Excluded{"n1"}}));
  std::filesystem::rename(path("rv/decisions.1/2"), path("away"));
  std::filesystem::create_symlink(std::string(300, 'x'), path("rv/decisions.1/2"));  // no name that can be opened
  EXPECT_FALSE(DecisionLog::open(path("rv"), 2, "run"));
  std::filesystem::remove(path("rv/decisions.1/2"));
  std::filesystem::rename(path("away"), path("rv/decisions.1/2"));
  EXPECT_THAT(open(2).facts.excluded, ElementsAre("n1"));
}

TEST_F(DecisionLogTest, ALinkIsNotFollowedWhereFilesAreRemoved) {
  std::filesystem::create_directory(path("elsewhere"));
  std::ofstream(path("elsewhere/1")) << "somebody's";
  std::filesystem::create_directory_symlink(path("elsewhere"), path("rv/decisions.1"));
  DecisionLog::remove_from(path("rv"));
  EXPECT_TRUE(std::filesystem::exists(path("elsewhere/1")));
}

// At each instant there is a prefix of what was written, and the next coordinator folds it.
TEST_F(DecisionLogTest, ACoordinatorMayDieAfterEachFile) {
  std::mt19937_64 random(7);
  auto writer = open(1);
  Facts facts;
  for (uint64_t generation = 2; generation < 30; ++generation) {
    for (uint64_t i = random() % 4; i > 0; --i) {
      const std::vector<Decision> records{any_decision(random), any_decision(random)};
      for (const Decision& record : records) facts.apply(record);
      ASSERT_TRUE(append(writer.log, records));
    }
    std::ofstream(path("rv/decisions." + std::to_string(generation - 1) + "/.new-half")) << "half a fi";
    writer = open(generation);
    ASSERT_EQ(writer.facts, facts);
  }
}

// What the writer's thread has said.
struct Said {
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t written = 0, failed = 0, replaced = 0;

  LogWriter::Callbacks callbacks() {
    return {[this](uint64_t n) { say(written, n); }, [this](const Error&) { say(failed, 1); },
            [this] { say(replaced, 1); }};
  }
  void say(uint64_t& to, uint64_t n) {
    const std::scoped_lock lock(mutex);
    to += n;
    changed.notify_all();
  }
  void wait_for(const uint64_t& what, uint64_t least) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, 60s, [&] { return what >= least; }));
  }
};

TEST_F(DecisionLogTest, TheWriterTriesAgainUntilThereIsRoom) {
  Said said;
  auto first = open(1);
  std::filesystem::rename(path("rv/decisions.1"), path("away"));
  std::filesystem::create_symlink("decisions.1", path("rv/decisions.1"));  // leads in a circle
  LogWriter writer(std::move(first.log), said.callbacks(), 1ms);
  writer.add({Answered{}, Answered{}});
  said.wait_for(said.failed, 2);
  EXPECT_EQ(said.written, 0u);
  std::filesystem::remove(path("rv/decisions.1"));
  std::filesystem::rename(path("away"), path("rv/decisions.1"));
  said.wait_for(said.written, 2);
  writer.add({Answered{}});
  said.wait_for(said.written, 3);
  const auto second = open(2);
  EXPECT_EQ(second.facts.sums.counts.restarts, 3u);
  writer.add({Answered{}});
  said.wait_for(said.replaced, 1);
  EXPECT_EQ(said.written, 3u);
}

}  // namespace
}  // namespace forebay::job
