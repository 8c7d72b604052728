#include "io/staging/stage_place.h"

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::io {
namespace {
namespace fs = std::filesystem;

class StagePlaceTest : public testing::Test {
 protected:
  StagePlaceTest() {
    std::string pattern = testing::TempDir() + "stage-place-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~StagePlaceTest() override { fs::remove_all(root_); }

  Result<StagePlace> own() const { return StagePlace::own(root_, root_ + "/store"); }
  static void write(const std::string& path) { std::ofstream(path) << "values"; }

  std::string root_;
};

TEST_F(StagePlaceTest, KeepsSetsThatAreCompleteForTheNextOwner) {
  {
    auto place = own();
    ASSERT_TRUE(place) << place.error().message();
    EXPECT_TRUE(place->left_over().empty());
    for (const uint64_t step : {10, 9, 11}) {
      auto set = place->begin("dump-" + std::to_string(step), step);
      ASSERT_TRUE(set) << set.error().message();
      write(set->directory + "/rank000000.pg");
      if (step == 11) break;
      ASSERT_TRUE(place->complete(*set));
    }
  }
  auto place = own();
  ASSERT_TRUE(place);
  ASSERT_EQ(place->left_over().size(), 2u);
  EXPECT_EQ(place->left_over()[0].name, "dump-9");
  EXPECT_EQ(place->left_over()[0].step, 9u);
  EXPECT_EQ(place->left_over()[1].name, "dump-10");
  EXPECT_TRUE(fs::exists(place->left_over()[1].directory + "/rank000000.pg"));
  EXPECT_FALSE(fs::exists(place->directory() + "/dump-11"));  // nobody knows whether all ranks had written
}

TEST_F(StagePlaceTest, HasOneOwnerAtATime) {
  auto first = own(), second = own();
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->directory(), second->directory());
  const std::string before = first->directory();
  first = std::unexpected(Error{});
  auto third = own();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->directory(), before);
}

TEST_F(StagePlaceTest, KeepsASetThatWaitsWhenAnotherOfItsNameComes) {
  {
    auto place = own();
    ASSERT_TRUE(place);
    auto set = place->begin("dump-1", 1);
    ASSERT_TRUE(set);
    write(set->directory + "/rank000000.pg");
    ASSERT_TRUE(place->complete(*set));
  }
  auto place = own();
  ASSERT_TRUE(place);
  auto again = place->begin("dump-1", 1);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(fs::is_empty(again->directory));
  ASSERT_TRUE(place->complete(*again));
  ASSERT_EQ(place->left_over().size(), 1u);
  EXPECT_TRUE(fs::exists(place->left_over()[0].directory + "/rank000000.pg"));
  place = std::unexpected(Error{});
  place = own();
  ASSERT_TRUE(place);
  ASSERT_EQ(place->left_over().size(), 2u);
  for (const WaitingSet& set : place->left_over()) EXPECT_EQ(set.name, "dump-1");
}

// A set is begun before its name is known.
TEST_F(StagePlaceTest, PutsSetsWherePeopleLookForThem) {
  auto place = own();
  ASSERT_TRUE(place);
  for (const char* name : {"dump-1", "dump-2"}) {
    auto first = place->begin("open", 1), second = place->begin("open", 1);
    ASSERT_TRUE(first && second);
    write(second->directory + "/rank000000.pg");
    first->name = second->name = name;
    ASSERT_TRUE(place->complete(*second));
    EXPECT_EQ(second->directory, place->directory() + "/" + name);
    EXPECT_TRUE(fs::exists(second->directory + "/rank000000.pg"));
    ASSERT_TRUE(place->complete(*first));
    EXPECT_EQ(first->directory, place->directory() + "/" + name + "+2");
  }
}

TEST_F(StagePlaceTest, OwnersComeAndGoAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const auto place = own();
        ASSERT_TRUE(place) << place.error().message();
        ASSERT_TRUE(fs::exists(place->directory() + "/lock"));
      }
    });
  threads.clear();
  EXPECT_TRUE(fs::is_empty(root_)) << "the last one leaves nothing";
}

TEST_F(StagePlaceTest, LeavesNothingBehindThatIsEmpty) {
  std::string directory;
  {
    auto place = own();
    ASSERT_TRUE(place);
    directory = place->directory();
    auto set = place->begin("dump-1", 1);
    ASSERT_TRUE(set);
    ASSERT_TRUE(place->complete(*set));
    StagePlace::remove(*set);
  }
  EXPECT_FALSE(fs::exists(directory));
  EXPECT_TRUE(fs::is_empty(root_)) << "nor the directory of the user";
}

TEST_F(StagePlaceTest, TrustsNoDirectoryThatOthersMayChange) {
  const std::string mine = root_ + "/forebay-io-" + std::to_string(::geteuid());
  ASSERT_EQ(::mkdir(mine.c_str(), 0777), 0);
  ASSERT_EQ(::chmod(mine.c_str(), 0777), 0);
  const auto open_to_all = own();
  ASSERT_FALSE(open_to_all);
  EXPECT_EQ(open_to_all.error().kind, ErrorKind::permission);

  ASSERT_EQ(::rmdir(mine.c_str()), 0);
  ASSERT_EQ(::mkdir((root_ + "/elsewhere").c_str(), 0700), 0);
  ASSERT_EQ(::symlink((root_ + "/elsewhere").c_str(), mine.c_str()), 0);
  const auto linked = own();
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace forebay::io
