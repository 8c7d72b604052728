#include "launch/gather/tree.h"

#include <chrono>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::launch {
namespace {

using testing::ElementsAre;
using testing::Pair;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using rules::Evaluator;

TreeFile file(uint64_t size, uint64_t inode, int64_t mtime_ns = 1, bool is_open = false) {
  return {.size = size, .mtime_ns = mtime_ns, .device = 1, .inode = inode, .is_open = is_open, .is_link = false};
}

// What a rule makes of looks one second apart.
class Looks {
 public:
  explicit Looks(const char* rule) : evaluator_(*rules::parse_rule(rule)) {}

  void there(const Tree& tree) {
    for (const auto& [path, file] : tree) evaluator_.there(path, file.size);
    last_ = tree;
  }
  void look(const Tree& now, std::vector<Moved> moves = {}) {
    now_ += 1s;
    report_changes(evaluator_, std::exchange(last_, now), now, moves, now_,
                   [this](const std::string& path) { return TextEnd{texts[path], 0}; });
  }
  // "label@second state" of what is complete.
  std::vector<std::string> verdicts(std::chrono::seconds after = 60s) {
    evaluator_.passed(now_ + after);
    std::vector<std::string> all;
    for (const auto& verdict : evaluator_.take_verdicts())
      all.push_back(fmt::format("{}@{} {} files", to_string(verdict.id), verdict.at / 1s, verdict.members.size()));
    return all;
  }
  std::vector<std::string> killed() {
    evaluator_.killed(now_);
    std::vector<std::string> all;
    for (const auto& verdict : evaluator_.take_verdicts())
      all.push_back(fmt::format("{} {}", to_string(verdict.id), to_string(verdict.state)));
    return all;
  }

  std::map<std::string, std::string> texts;

 private:
  Evaluator evaluator_;
  Tree last_;
  rules::Time now_{0};
};

TEST(TreeChanges, AFileThatIsWrittenAndClosedIsASet) {
  Looks looks("melt.restart.{set}; done quiet 1s");
  looks.look({{"melt.restart.200", file(10, 1, 1, true)}});
  looks.look({{"melt.restart.200", file(20, 1, 2, true)}});
  EXPECT_THAT(looks.verdicts(20s), ElementsAre()) << "it is open";
  looks.look({{"melt.restart.200", file(20, 1, 2)}});
  EXPECT_THAT(looks.verdicts(), ElementsAre("200@4 1 files"));
}

TEST(TreeChanges, WhatWasThereIsNoSetUntilItIsWrittenAgain) {
  Looks looks("a.{set}; done quiet 1s");
  const Tree before{{"a.1", file(10, 1)}, {"a.2", file(10, 2)}};
  looks.there(before);
  looks.look(before);
  EXPECT_THAT(looks.verdicts(), ElementsAre());
  Tree after = before;
  after["a.2"].mtime_ns = 9;
  looks.look(after);
  EXPECT_THAT(looks.verdicts(), ElementsAre("2@3 1 files"));
}

TEST(TreeChanges, ARenamedFileIsSeenByItsMove) {
  Looks looks("{name}.cpt; not *_prev.cpt; not *_step*.cpt; done renamed");
  looks.look({{"md.cpt", file(5, 1)}}, {{"md_step100.cpt", "md.cpt"}});
  EXPECT_THAT(looks.verdicts(), ElementsAre("md:*@1 1 files"));
  looks.look({{"md.cpt", file(5, 2)}}, {{"md.cpt", "md_prev.cpt"}, {"md_step200.cpt", "md.cpt"}});
  EXPECT_THAT(looks.verdicts(), ElementsAre("md:*#2@2 1 files"));
}

TEST(TreeChanges, WhatACodeAppendedBeforeARenameIsOfTheSet) {
  Evaluator evaluator(*rules::parse_rule("{name}.cpt; with {name}.xtc appended; done renamed"));
  const Tree before{{"md.cpt", file(5, 1)}, {"md.xtc", file(100, 3, 1, true)}};
  evaluator.there("md.cpt", 5);
  evaluator.there("md.xtc", 100);
  const Tree now{{"md.cpt", file(5, 2)}, {"md.xtc", file(140, 3, 2, true)}};
  const Moved moved{"md_step2.cpt", "md.cpt"};
  report_changes(evaluator, before, now, {&moved, 1}, 1s, [](const std::string&) { return std::nullopt; });
  evaluator.passed(60s);
  const auto verdicts = evaluator.take_verdicts();
  ASSERT_EQ(verdicts.size(), 1u);
  ASSERT_EQ(verdicts[0].companions.size(), 1u);
  EXPECT_EQ(verdicts[0].companions[0].length, 140u);
}

TEST(TreeChanges, ARenamedDirectoryTakesItsFilesAlong) {
  Looks looks("chk{set}/**; done renamed");
  looks.look({{"chk00100/Header", file(1, 1)}, {"chk00100/L/D", file(9, 2)}}, {{"chk00100.temp", "chk00100"}});
  EXPECT_THAT(looks.verdicts(), ElementsAre("00100@1 2 files"));
}

TEST(TreeChanges, AMoveThatNobodyReportedIsKnownByTheInode) {
  Looks looks("{set}/**; done renamed");
  looks.look({{"7.tmp/data", file(5, 3)}});
  looks.look({{"7/data", file(5, 3)}});
  EXPECT_THAT(looks.verdicts(), ElementsAre("7@2 1 files"));
}

TEST(TreeChanges, ATextThatNamesTheSet) {
  Looks looks(R"(DD{set:0000}/**; with OutputLog; done says OutputLog "DATASET WRITTEN *DD{set}/*")");
  looks.look({{"DD0001/DD0001.cpu0", file(5, 3)}});
  looks.texts["OutputLog"] = "DATASET WRITTEN ./DD0001/DD0001 12 0.5\n";
  looks.look({{"DD0001/DD0001.cpu0", file(5, 3)}, {"OutputLog", file(40, 4)}});
  EXPECT_THAT(looks.verdicts(), ElementsAre("0001@2 1 files"));
}

TEST(TreeChanges, AKillMakesWhatWasBeingWrittenSuspect) {
  Looks looks("a.{set}; done quiet 1s");
  looks.look({{"a.1", file(10, 1, 1, true)}});
  EXPECT_THAT(looks.killed(), ElementsAre("1 suspect"));
}

class LookAtTree : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "forebay-tree-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { fs::remove_all(dir_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((dir_ / path).parent_path());
    std::ofstream(dir_ / path) << text;
  }
  Tree look(const Tree& before = {}, const std::set<FileId>& leave_out = {}) const {
    return look_at_tree(
               dir_.string(), leave_out, [](std::string_view path) { return !path.ends_with(".log"); }, before)
        .value();
  }
  std::vector<std::string> names(const Tree& tree) const {
    std::vector<std::string> all;
    for (const auto& [path, file] : tree) all.push_back(path);
    return all;
  }
  fs::path dir_;
};

TEST_F(LookAtTree, ListsWhatIsWantedAndNothingOfForebays) {
  write("a/b/c", "1");
  write("run.log", "2");
  write(".forebay-aside/x", "3");
  write("stage/y", "4");
  fs::create_symlink("a/b/c", dir_ / "link");
  struct stat info{};
  ASSERT_EQ(::stat((dir_ / "stage").c_str(), &info), 0);
  const Tree tree = look({}, {{info.st_dev, info.st_ino}});
  EXPECT_THAT(names(tree), ElementsAre("a/b/c", "link"));
  EXPECT_TRUE(tree.at("link").is_link);
}

TEST_F(LookAtTree, AFileIsOpenAsLongAsSomebodyMayWriteToIt) {
  std::ofstream writer(dir_ / "a");
  writer << "1" << std::flush;
  const Tree first = look();
  EXPECT_TRUE(first.at("a").is_open);
  writer.close();
  EXPECT_FALSE(look(first).at("a").is_open);
}

TEST_F(LookAtTree, TheEndOfATextIsRead) {
  write("log", std::string(Evaluator::kMostText, 'x') + "last\n");
  const auto end = read_text_end(dir_.string(), "log");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->offset, 5u);
  EXPECT_TRUE(end->text.ends_with("last\n"));
  EXPECT_FALSE(read_text_end(dir_.string(), "nothing"));
}

}  // namespace
}  // namespace forebay::launch
