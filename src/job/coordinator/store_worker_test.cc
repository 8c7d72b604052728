#include "job/coordinator/store_worker.h"

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/bytes.h"
#include "job/test_job.h"
#include "store/files.h"
#include "store/names.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class StoreWorkerTest : public TempTest {
 protected:
  template <class Answer>
  Answer ask(StoreCommand command) {
    worker_->submit(std::move(command));
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, 20s, [this] { return !answers_.empty(); })) throw std::runtime_error("no answer");
    const StoreAnswer answer = std::move(answers_.front());
    answers_.erase(answers_.begin());
    return std::get<Answer>(answer);
  }
  StagedPlace stage(uint64_t number, const std::string& name) {
    return value(ask<Staged>(Stage{number, name, "balanced", 4, 2}).place);
  }
  // As workers do.
  std::string directory_of(const StagedPlace& place) const { return path("store/staging/") + place.staged; }
  store::ContainerEntry write(const StagedPlace& place, const std::string& container) const {
    check(store::write_text(directory_of(place), container, "container"));
    return {.name = container, .bytes = 9, .raw_bytes = 20, .files = 2};
  }
  Commit commit_of(uint64_t number, const StagedPlace& place, const std::string& container) {
    Commit commit{.set = number, .has_others = true, .manifest = {}};
    commit.manifest = {.name = place.name, .software = "test", .profile = "balanced", .ranks = 4, .group_size = 2};
    commit.manifest.sources = {"0123456789abcdef"};
    commit.manifest.containers = {write(place, container)};
    return commit;
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<StoreAnswer> answers_;
  std::unique_ptr<StoreWorker> worker_ = std::make_unique<StoreWorker>(path("store"), [this](StoreAnswer answer) {
    const std::scoped_lock lock(mutex_);
    answers_.push_back(std::move(answer));
    came_.notify_one();
  });
};

TEST_F(StoreWorkerTest, ASetIsStagedAndCommittedUnderItsName) {
  const StagedPlace place = stage(1, "s");
  EXPECT_EQ(place.name, "s");
  EXPECT_EQ(place.before, "");
  check(store::write_text(directory_of(place), "c0.1", "of an attempt that was given up"));
  check(ask<Committed>(commit_of(1, place, "c0.2")).result);
  EXPECT_TRUE(fs::exists(path("store/sets/s/c0.2")));
  EXPECT_FALSE(fs::exists(path("store/sets/s/c0.1")));
  const auto stored = value(ask<LookedUp>(LookUp{7, "s"}).stored);
  ASSERT_EQ(stored.size(), 1u);
  EXPECT_THAT(stored[0].sources, testing::ElementsAre("0123456789abcdef"));
  EXPECT_EQ(value(ask<ListedSets>(ListSets{}).sets).size(), 1u);
}

TEST_F(StoreWorkerTest, ATakenNameGetsANumber) {
  for (uint64_t number = 1; number <= 3; ++number) {
    const StagedPlace place = stage(number, "s");
    EXPECT_EQ(place.name, store::stored_name("s", number));
    EXPECT_EQ(place.before, number == 1 ? "" : store::stored_name("s", number - 1));
    check(ask<Committed>(commit_of(number, place, "c0.1")).result);
  }
  EXPECT_EQ(value(ask<LookedUp>(LookUp{7, "s"}).stored).size(), 3u);
}

TEST_F(StoreWorkerTest, ANameThatIsTakenMeanwhileIsSaid) {
  const StagedPlace place = stage(1, "s"), other = stage(2, "s");
  EXPECT_EQ(place.name, other.name);
  check(ask<Committed>(commit_of(1, place, "c0.1")).result);
  EXPECT_EQ(error(ask<Committed>(commit_of(2, other, "c0.1")).result).kind, ErrorKind::exists);
}

TEST_F(StoreWorkerTest, ACommitCanBeTriedAgain) {
  const StagedPlace place = stage(1, "s");
  const Commit commit = commit_of(1, place, "c0.1");
  fs::rename(path("store/sets"), path("store/gone"));
  EXPECT_FALSE(ask<Committed>(Commit(commit)).result);
  fs::rename(path("store/gone"), path("store/sets"));
  check(ask<Committed>(Commit(commit)).result);
}

// What a failed sync leaves if the directory cannot be moved back, either.
TEST_F(StoreWorkerTest, ACommitThatWasRenamedAlreadyFindsItsSet) {
  const StagedPlace place = stage(1, "s");
  const Commit commit = commit_of(1, place, "c0.1");
  fs::rename(directory_of(place), path("store/sets/s"));
  EXPECT_EQ(error(ask<Committed>(Commit(commit)).result).kind, ErrorKind::exists);
}

TEST_F(StoreWorkerTest, WhatIsAbandonedIsRemoved) {
  const StagedPlace one = stage(1, "a"), two = stage(2, "b");
  worker_->submit(Abandon{1});
  EXPECT_EQ(error(ask<Committed>(commit_of(1, two, "c0.1")).result).kind, ErrorKind::internal);
  EXPECT_FALSE(fs::exists(directory_of(one)));
  EXPECT_TRUE(fs::exists(directory_of(two)));
  worker_.reset();
  EXPECT_FALSE(fs::exists(directory_of(two))) << "with the worker";
}

TEST_F(StoreWorkerTest, AStoreThatIsNotThereYetIsTriedAgain) {
  fs::create_directory(path("store"));
  std::filesystem::create_directory(path("store/something-else"));
  EXPECT_FALSE(ask<LookedUp>(LookUp{1, "s"}).stored);
  fs::remove(path("store/something-else"));
  EXPECT_TRUE(ask<LookedUp>(LookUp{1, "s"}).stored);
}

TEST_F(StoreWorkerTest, NothingIsPrunedWhereNoSetReadsBackWhole) {
  for (uint64_t number = 1; number <= 3; ++number) {
    const StagedPlace place = stage(number, fmt::format("s{}", number));
    check(ask<Committed>(commit_of(number, place, "c")).result);
  }
  const auto answer = ask<WasPruned>(Prune{std::string(store::kDefaultSeries), {.keep_last = 1}});
  ASSERT_FALSE(answer.result) << "its containers are none";
  EXPECT_EQ(answer.result.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(value(ask<ListedSets>(ListSets{}).sets).size(), 3u);
}

TEST_F(StoreWorkerTest, PruningKeepsWhatTheRetentionKeeps) {
  const StagedPlace place = stage(1, "s1");
  check(ask<Committed>(commit_of(1, place, "c")).result);
  const auto answer = ask<WasPruned>(Prune{std::string(store::kDefaultSeries), {.keep_last = 1}});
  EXPECT_THAT(value(answer.result).removed, testing::IsEmpty());
  EXPECT_THAT(value(answer.result).problems, testing::IsEmpty()) << "nothing is read where nothing would go";
}

}  // namespace
}  // namespace forebay::job
