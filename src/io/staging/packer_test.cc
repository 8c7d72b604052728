#include "io/staging/packer.h"

#include <filesystem>
#include <fstream>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace forebay::io {
namespace {
namespace fs = std::filesystem;
using namespace std::chrono_literals;

class PackerTest : public testing::Test {
 protected:
  PackerTest() {
    std::string pattern = testing::TempDir() + "packer-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    auto place = StagePlace::own(root_, store_path());
    EXPECT_TRUE(place);
    if (place) place_.emplace(std::move(*place));
  }
  ~PackerTest() override {
    place_.reset();
    fs::remove_all(root_);
  }

  std::string store_path() const { return root_ + "/store"; }
  PackSettings settings() const { return {.store = store_path(), .profile = *codec::Profile::parse("fast")}; }

  WaitingSet make_set(const std::string& name, uint64_t step) {
    WaitingSet set = *place_->begin(name, step);
    std::ofstream(set.directory + "/rank000000.pg") << std::string(10'000, 'x');
    EXPECT_TRUE(place_->complete(set));
    return set;
  }

  std::vector<std::string> stored() const {
    std::vector<std::string> names;
    const auto store = store::Store::open(store_path());
    if (!store) return names;
    const auto sets = store->list();
    if (sets)
      for (const auto& set : *sets) names.push_back(set.manifest ? set.manifest->name : "damaged");
    return names;
  }

  std::string root_;
  std::optional<StagePlace> place_;
};

TEST_F(PackerTest, PutsSetsIntoTheStoreAndRemovesThemWhereTheyWaited) {
  Packer packer(settings());
  const WaitingSet first = make_set("dump-000001", 1), second = make_set("dump-000002", 2);
  packer.add(first);
  packer.add(second);
  packer.wait_until(0);
  EXPECT_FALSE(packer.take_failure());
  EXPECT_THAT(stored(), testing::ElementsAre("dump-000001", "dump-000002"));
  EXPECT_FALSE(fs::exists(first.directory));
  EXPECT_FALSE(fs::exists(second.directory));
}

TEST_F(PackerTest, GivesANameThatIsTakenANumber) {
  Packer packer(settings());
  packer.add(make_set("dump-000001", 1));
  packer.wait_until(0);
  packer.add(make_set("dump-000001", 1));
  packer.wait_until(0);
  EXPECT_FALSE(packer.take_failure());
  EXPECT_THAT(stored(), testing::UnorderedElementsAre("dump-000001", "dump-000001+2"));
}

TEST_F(PackerTest, KeepsWhatCannotBeStored) {
  std::ofstream(store_path()) << "no directory";
  Packer packer(settings());
  const WaitingSet set = make_set("dump-000001", 1);
  packer.add(set);
  packer.wait_until(0);
  const auto failure = packer.take_failure();
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message(), testing::AllOf(testing::HasSubstr("dump-000001"), testing::HasSubstr(set.directory)));
  EXPECT_TRUE(fs::exists(set.directory + "/rank000000.pg"));
  EXPECT_FALSE(packer.take_failure());
}

TEST(Pacing, WaitsWhileTheProgramDoesNotCompute) {
  Pacing pacing;
  const std::stop_token never;
  pacing.give_way(never);  // the program has said nothing
  pacing.end_calculation();
  auto waits = std::async(std::launch::async, [&] { pacing.give_way(never); });
  EXPECT_EQ(waits.wait_for(20ms), std::future_status::timeout);
  pacing.begin_calculation();
  waits.get();
}

TEST(Pacing, WaitsWhileTheProgramWrites) {
  Pacing pacing;
  const std::stop_token never;
  pacing.begin_writing();
  pacing.begin_writing();
  auto waits = std::async(std::launch::async, [&] { pacing.give_way(never); });
  EXPECT_EQ(waits.wait_for(20ms), std::future_status::timeout);
  pacing.end_writing();
  EXPECT_EQ(waits.wait_for(20ms), std::future_status::timeout);
  pacing.end_writing();
  waits.get();
}

TEST(Pacing, DoesNotKeepAnybodyWaiting) {
  Pacing pacing;
  const std::stop_token never;
  pacing.end_calculation();
  auto waits = std::async(std::launch::async, [&] { pacing.give_way(never); });
  pacing.hurry(1);
  waits.get();
  pacing.give_way(never);
  pacing.hurry(-1);
}

}  // namespace
}  // namespace forebay::io
