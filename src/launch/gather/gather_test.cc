#include "launch/gather/gather.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/stage/begun_sets.h"
#include "job/stage/stage_notes.h"
#include "launch/gather/gather_notes.h"
#include "launch/gather/put_back.h"
#include "launch/gather/set_note.h"
#include "launch/gather/take.h"

namespace forebay::launch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

class GatherTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "forebay-gather-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    work_ = root_ / "work";
    stage_ = root_ / "stage";
    fs::create_directory(work_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((work_ / path).parent_path());
    std::ofstream(work_ / path) << text;
  }
  std::string read(const fs::path& path) const {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::vector<std::string> sets() const {
    std::vector<std::string> names;
    if (fs::exists(stage_))
      for (const auto& entry : fs::directory_iterator(stage_))
        if (entry.path().filename().string()[0] != '.') names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
  template <class Condition>
  static bool wait_for(const Condition& condition) {
    for (int i = 0; i < 400 && !condition(); ++i) std::this_thread::sleep_for(25ms);
    return condition();
  }

  // A gatherer in a thread, as long as this lives.
  class Running {
   public:
    Running(GatherTest& test, const char* rule, std::chrono::milliseconds least_age = 5s) {
      options_ = {.directory = test.work_, .stage = test.stage_, .leave_out = {}, .rule = *rules::parse_rule(rule)};
      options_.least_age = least_age;
      options_.log = [this](fabric::Severity severity, const std::string& text) {
        const std::lock_guard lock(mutex_);
        if (severity == fabric::Severity::warning) warnings_.push_back(text);
      };
      options_.ready = [this] { ready_ = true; };
      thread_ = std::jthread([this](std::stop_token stop) { result_ = run_gather(options_, stop); });
      EXPECT_TRUE(wait_for([this] { return ready_.load(); }));
    }
    std::vector<std::string> warnings() const {
      const std::lock_guard lock(mutex_);
      return warnings_;
    }

   private:
    GatherOptions options_;
    mutable std::mutex mutex_;
    std::vector<std::string> warnings_;
    std::atomic<bool> ready_ = false;
    Result<void> result_;
    std::jthread thread_;
  };

  Result<void> order(GatherEvent event) const { return give_gather_order(stage_, event, 10s); }

  fs::path root_, work_, stage_;
};

TEST_F(GatherTest, CopiesWhatIsCompleteAndLeavesTheRestAlone) {
  write("input", "mesh");
  write("a.1", "old");
  const Running running(*this, "a.{set}; with log; done quiet 0.1s");
  ASSERT_TRUE(order(GatherEvent::begin));
  write("log", "line");
  write("a.2", "new");
  ASSERT_TRUE(wait_for([&] { return !sets().empty(); }));
  EXPECT_THAT(sets(), ElementsAre("2"));
  EXPECT_EQ(read(stage_ / "2/a.2"), "new");
  EXPECT_EQ(read(stage_ / "2/log"), "line");
  EXPECT_EQ(read(work_ / "a.2"), "new") << "it is copied";
  EXPECT_TRUE(fs::exists(work_ / "input"));
}

TEST_F(GatherTest, AKillMakesTheLastOneSuspect) {
  const Running running(*this, "a.{set}; done quiet 5s");
  ASSERT_TRUE(order(GatherEvent::begin));
  write("a.1", "half");
  ASSERT_TRUE(order(GatherEvent::killed));
  EXPECT_THAT(sets(), ElementsAre("1"));
  const auto note = parse_set_note(read(stage_ / "1" / kSetNote), "note");
  ASSERT_TRUE(note);
  EXPECT_THAT(note->suspicion, HasSubstr("killed"));
  EXPECT_EQ(job::read_suspicion(stage_, "1"), note->suspicion) << "the agent reads it";
  EXPECT_THAT(running.warnings(), Contains(HasSubstr("is not the first choice of a restart")));
}

// A process that `forebay run` would have started for a job with that stage.
class Rank {
 public:
  explicit Rank(const fs::path& stage) : pid_(::fork()) {
    const std::string variable = "FOREBAY_STAGE=" + stage.string();
    const char* words[] = {"sleep", "1000", nullptr};
    const char* environment[] = {variable.c_str(), "FOREBAY_ATTEMPT=1", nullptr};
    if (pid_ == 0) ::execve("/bin/sleep", const_cast<char**>(words), const_cast<char**>(environment));
    if (pid_ == 0) ::_exit(127);
  }
  ~Rank() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  bool has_begun() const {
    return fs::read_symlink(fmt::format("/proc/{}/exe", pid_)) != fs::read_symlink("/proc/self/exe");
  }

 private:
  pid_t pid_;
};

TEST_F(GatherTest, ASetThatSeemsLeftAloneSinceARankWasKilledIsSuspect) {
  const Running running(*this, "a.{set}; done quiet 0.2s", 0ms);
  Rank rank(stage_);
  ASSERT_TRUE(wait_for([&] { return rank.has_begun(); }));
  ASSERT_TRUE(order(GatherEvent::begin));
  write("a.1", "whole");
  ASSERT_TRUE(wait_for([&] { return sets() == std::vector<std::string>{"1"}; }));
  write("a.2", "half");
  rank.end();
  write("a.3", "seen later");
  std::this_thread::sleep_for(600ms);  // the launcher's time to end; longer than the quiet time
  EXPECT_THAT(sets(), ElementsAre("1"));
  ASSERT_TRUE(order(GatherEvent::killed));
  EXPECT_THAT(sets(), ElementsAre("1", "2", "3"));
  EXPECT_THAT(job::read_suspicion(stage_, "2"), HasSubstr("killed"));
  EXPECT_THAT(job::read_suspicion(stage_, "1"), testing::Not(HasSubstr("killed")));
}

TEST_F(GatherTest, WhatIsWrittenAfterTheEndIsNoSet) {
  const Running running(*this, "a.{set}; done quiet 0.1s");
  ASSERT_TRUE(order(GatherEvent::begin));
  write("a.1", "one");
  ASSERT_TRUE(order(GatherEvent::ended));
  EXPECT_THAT(sets(), ElementsAre("1")) << "it is complete at the code's end";
  write("a.2", "brought back");
  ASSERT_TRUE(order(GatherEvent::begin));
  ASSERT_TRUE(order(GatherEvent::ended));
  EXPECT_THAT(sets(), ElementsAre("1"));
}

TEST_F(GatherTest, NotesWhatIsBegunAndWhatIsLost) {
  const Running running(*this, "a.{set}.{rank}; done same quiet 0.1s");
  ASSERT_TRUE(order(GatherEvent::begin));
  write("a.1.0", "1");
  write("a.1.1", "1");
  ASSERT_TRUE(wait_for([&] { return !sets().empty(); }));
  write("a.2.0", "2");
  // The set is in the stage before the notes say that it is begun no more.
  ASSERT_TRUE(wait_for([&] { return job::begun_sets(stage_).size() == 1 && job::begun_sets(stage_)[0].name == "2"; }));
  EXPECT_FALSE(job::begun_sets(stage_)[0].is_lost) << "it may be completed yet";
  ASSERT_TRUE(order(GatherEvent::ended));
  const job::BegunSet lost{"2", "rank 1 of a.{set}.{rank} is not there again", work_, true};
  EXPECT_THAT(job::begun_sets(stage_), ElementsAre(lost));
  EXPECT_THAT(sets(), ElementsAre("1"));
  ASSERT_TRUE(order(GatherEvent::begin));
  EXPECT_TRUE(job::begun_sets(stage_).empty());
}

TEST_F(GatherTest, OneThatIsStartedAgainGoesOn) {
  {
    const Running running(*this, "a.{set}.{rank}; done same quiet 0.1s");
    ASSERT_TRUE(order(GatherEvent::begin));
    write("a.1.0", "1");
    write("a.1.1", "1");
    ASSERT_TRUE(wait_for([&] { return !sets().empty(); }));
  }
  write("a.2.0", "2");
  write("a.2.1", "2");
  const Running running(*this, "a.{set}.{rank}; done same quiet 0.1s");
  ASSERT_TRUE(wait_for([&] { return sets().size() == 2; }));
  EXPECT_THAT(sets(), ElementsAre("1", "2")) << "the first one is not taken again";
}

TEST_F(GatherTest, PutsASetBackAndTheNewerOneAside) {
  write("restart.1", "one");
  const auto rule = *rules::parse_rule("restart.{set}; done quiet 1s");
  rules::Verdict verdict{
      .id = {.series = {}, .label = "1"}, .reason = {}, .members = {{"restart.1", 3, ""}}, .companions = {}};
  fs::create_directory(stage_);
  ASSERT_EQ(take_set(work_, stage_, rule, verdict, {}, "set", 5).value(), "1");
  EXPECT_EQ(take_set(work_, stage_, rule, verdict, {}, "set", 5).value(), "1-2") << "nothing is replaced";
  write("restart.1", "broken");
  write("restart.2", "half");
  rules::Resume resume;
  resume.is_in_place = true;
  const auto done = put_back(stage_ / "1", work_, rule, resume, {});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(read(work_ / "restart.1"), "one");
  EXPECT_FALSE(fs::exists(work_ / "restart.2"));
  EXPECT_EQ(read(fs::path(done->aside) / "restart.2"), "half");
  EXPECT_EQ(read(fs::path(done->aside) / "restart.1"), "broken") << "no byte is lost";
  EXPECT_THAT(done->moved, UnorderedElementsAre("restart.1", "restart.2"));
}

TEST_F(GatherTest, PutsNothingIntoAStoreAndChangesNothingBefore) {
  write("a.1", "one");
  write("sets/b.1", "one");
  const auto rule = *rules::parse_rule("a.{set}; sets/b.{set}");
  const rules::Verdict verdict{.id = {.series = {}, .label = "1"},
                               .reason = {},
                               .members = {{"a.1", 3, ""}, {"sets/b.1", 3, ""}},
                               .companions = {}};
  fs::create_directory(stage_);
  ASSERT_TRUE(take_set(work_, stage_, rule, verdict, {}, "set", 5));
  write("a.1", "two, of the user");
  write("sets/b.1", "two, of a store");
  write("forebay-store", "");
  rules::Resume resume;
  resume.is_in_place = true;
  const auto done = put_back(stage_ / "1", work_, rule, resume, {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("part of a store"));
  EXPECT_EQ(read(work_ / "a.1"), "two, of the user");
  EXPECT_EQ(read(work_ / "sets/b.1"), "two, of a store");
  EXPECT_FALSE(fs::exists(work_ / ".forebay-aside"));
}

TEST_F(GatherTest, PutsNothingInThePlaceOfADirectory) {
  write("a.1", "one");
  const auto rule = *rules::parse_rule("a.{set}");
  const rules::Verdict verdict{
      .id = {.series = {}, .label = "1"}, .reason = {}, .members = {{"a.1", 3, ""}}, .companions = {}};
  fs::create_directory(stage_);
  ASSERT_TRUE(take_set(work_, stage_, rule, verdict, {}, "set", 5));
  fs::remove(work_ / "a.1");
  write("a.1/of the user", "x");
  rules::Resume resume;
  resume.is_in_place = true;
  EXPECT_FALSE(put_back(stage_ / "1", work_, rule, resume, {}));
  EXPECT_EQ(read(work_ / "a.1/of the user"), "x");
}

TEST_F(GatherTest, PutsBackOverWhatAnInterruptedRestartLeft) {
  write("out/a", "one");
  const auto rule = *rules::parse_rule("out/**");
  const rules::Verdict verdict{.id = {}, .reason = {}, .members = {{"out/a", 3, ""}}, .companions = {}};
  fs::create_directory(stage_);
  ASSERT_TRUE(take_set(work_, stage_, rule, verdict, {}, "set", 5));
  write("out/a", "newer");
  write("out/.forebay-put.a", "half");
  rules::Resume resume;
  resume.is_in_place = true;
  const auto done = put_back(stage_ / "set", work_, rule, resume, {});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(read(work_ / "out/a"), "one");
  EXPECT_FALSE(fs::exists(work_ / "out/.forebay-put.a"));
  EXPECT_THAT(done->moved, ElementsAre("out/a"));
}

TEST_F(GatherTest, ASetIsNotTakenWhileItIsWrittenTo) {
  write("a.1", "longer than it was");
  fs::create_directory(stage_);
  const auto rule = *rules::parse_rule("a.{set}");
  const rules::Verdict verdict{
      .id = {.series = {}, .label = "1"}, .reason = {}, .members = {{"a.1", 3, ""}}, .companions = {}};
  const auto taken = take_set(work_, stage_, rule, verdict, {}, "set", 5);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::changed);
  EXPECT_TRUE(fs::is_empty(stage_)) << "nothing is left in the stage";
}

TEST_F(GatherTest, ASetThatIsRewrittenAfterTheVerdictIsNotTaken) {
  write("a.1", "old");
  const auto before = look_at_tree(work_, {}, [](std::string_view) { return true; }, {});
  ASSERT_TRUE(before);
  fs::remove(work_ / "a.1");
  write("keeps the inode", "");
  write("a.1", "new");
  fs::create_directory(stage_);
  const auto rule = *rules::parse_rule("a.{set}");
  const rules::Verdict verdict{
      .id = {.series = {}, .label = "1"}, .reason = {}, .members = {{"a.1", 3, ""}}, .companions = {}};
  const auto taken = take_set(work_, stage_, rule, verdict, *before, "set", 5);
  ASSERT_FALSE(taken) << "it has the same size, and is another file";
  EXPECT_EQ(taken.error().kind, ErrorKind::changed);
  EXPECT_TRUE(fs::is_empty(stage_));
  const auto now = look_at_tree(work_, {}, [](std::string_view) { return true; }, {});
  EXPECT_TRUE(take_set(work_, stage_, rule, verdict, *now, "set", 5));
}

TEST_F(GatherTest, NotesOfOthersAreRefused) {
  EXPECT_FALSE(parse_set_note("{}", "note"));
  SetNote note{.rule = "a", .set = {.id = {}, .members = {{"../x", 1, ""}}, .companions = {}}, .suspicion = {}};
  EXPECT_FALSE(parse_set_note(encode_set_note(note), "note")) << "it would leave the set's directory";
  note.set.members[0].path = "x";
  EXPECT_TRUE(parse_set_note(encode_set_note(note), "note"));
}

}  // namespace
}  // namespace forebay::launch
