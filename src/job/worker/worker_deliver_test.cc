// Workers that bring a stored set back into the stages of agents.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "job/worker/test_tasks.h"

namespace forebay::job {
namespace {

using namespace testing_support;
using testing::EndsWith;
using testing::IsEmpty;

class DeliverTest : public WorkerTest {
 protected:
  // A stored set, and agents with empty stages.
  void store_set(const std::string& node0, const std::string& node1) {
    write_ranks(6, 50'000);
    fs::permissions(tree() + "/rank101/state.npy", fs::perms::owner_read);
    fs::last_write_time(tree() + "/rank102/state.npy", fs::file_time_type::clock::now() - std::chrono::hours(1000));
    scanned_ = value(engine::scan_tree(std::vector<std::string>{tree()}));
    container_path_ = reference();
    for (int peer = 0; peer < 2; ++peer) make_stage(stage(peer));
    options_.store = path("store");
    start_agents(node0, node1);
  }

  wire::TaskT deliver_task() const {
    wire::TaskT task;
    task.id = 5;
    task.kind = wire::TaskKind::deliver;
    task.set = kSet;
    task.container = container_;
    for (uint32_t rank = 0; rank < scanned_.ranks; ++rank)
      task.peer_of_rank.push_back(static_cast<uint32_t>(peer_of(rank)));
    add_agents(task);
    return task;
  }

  static std::vector<std::string> files_below(const std::string& directory) {
    std::vector<std::string> files;
    if (!fs::exists(directory)) return files;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
      if (!entry.is_directory()) files.push_back(entry.path().string());
    return files;
  }

  // That the stage has the files of its ranks, and no others.
  void expect_delivered(int peer) {
    size_t files = 0;
    for (const engine::SourceFile& file : scanned_.files) {
      if (peer_of(file.row.rank) != peer || file.row.kind == FileKind::directory) continue;
      ++files;
      const std::string at = stage(peer) + "/back/" + file.row.name;
      struct stat was{}, is{};
      ASSERT_EQ(::lstat(file.path.c_str(), &was), 0);
      ASSERT_EQ(::lstat(at.c_str(), &is), 0) << at;
      EXPECT_EQ(is.st_mode, was.st_mode) << at;
      EXPECT_EQ(is.st_mtim.tv_sec, was.st_mtim.tv_sec) << at;
      EXPECT_EQ(is.st_mtim.tv_nsec, was.st_mtim.tv_nsec) << at;
      EXPECT_TRUE(read_text(at) == read_text(file.path)) << at;
    }
    EXPECT_EQ(files_below(stage(peer) + "/back").size(), files);
  }

  std::string container_path_;
};

TEST_F(DeliverTest, FilesComeToTheStagesOfTheirRanks) {
  store_set("here", "elsewhere");
  const wire::TaskDoneT done = TestWorker(options_).run(deliver_task());
  ASSERT_FALSE(done.failed) << done.error;
  for (int peer = 0; peer < 2; ++peer) {
    EXPECT_FALSE(fs::exists(stage(peer) + "/back"));
    check(publish_delivered(stage(peer), kSet, "back"));
    expect_delivered(peer);
  }
}

TEST_F(DeliverTest, RanksThatNobodyAskedForAreLeftOut) {
  store_set("elsewhere", "elsewhere");
  wire::TaskT task = deliver_task();
  task.first_rank = 2;
  task.peer_of_rank = {0xffffffff, 0xffffffff, 1};
  const wire::TaskDoneT done = TestWorker(options_).run(task);
  ASSERT_FALSE(done.failed) << done.error;
  EXPECT_THAT(files_below(delivered_path(stage(1), kSet)), testing::ElementsAre(EndsWith("rank104/state.npy")));
  EXPECT_THAT(files_below(delivered_path(stage(0), kSet)), IsEmpty());
}

TEST_F(DeliverTest, OfADamagedContainerNothingIsDelivered) {
  store_set("here", "elsewhere");
  {
    std::fstream file(container_path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(fs::file_size(container_path_) / 2));
    file.write("damaged", 7);
  }
  const wire::TaskDoneT done = TestWorker(options_).run(deliver_task());
  ASSERT_TRUE(done.failed);
  EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::corrupt)) << done.error;
  EXPECT_EQ(done.side, wire::FaultSide::store);
  for (int peer = 0; peer < 2; ++peer)
    for (int i = 0; i < 5000 && !files_below(stage(peer)).empty(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_THAT(files_below(stage(0)), IsEmpty());
  EXPECT_THAT(files_below(stage(1)), IsEmpty());
}

TEST_F(DeliverTest, AnAgentThatRefusesIsAtFault) {
  store_set("here", "elsewhere");
  fs::remove_all(stage(1));
  const wire::TaskDoneT done = TestWorker(options_).run(deliver_task());
  ASSERT_TRUE(done.failed);
  EXPECT_EQ(done.side, wire::FaultSide::source) << done.error;
  EXPECT_EQ(done.peer, 1u);
}

TEST_F(DeliverTest, OnlyAgentsOfOtherNodesAreSpokenWith) {
  store_set("here", "elsewhere");
  wire::TaskT task = deliver_task();
  task.peers[0]->addresses = "unix:@forebay-nobody";
  EXPECT_FALSE(TestWorker(options_).run(task).failed);
  task.peers[1]->addresses = "unix:@forebay-nobody";
  const wire::TaskDoneT done = TestWorker(options_).run(task);
  ASSERT_TRUE(done.failed);
  EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::disconnected)) << done.error;
  EXPECT_EQ(done.side, wire::FaultSide::source);
  EXPECT_EQ(done.peer, 1u);
}

TEST_F(DeliverTest, ASetThatIsNotThereIsTheStoresFault) {
  store_set("here", "elsewhere");
  wire::TaskT task = deliver_task();
  task.set = "other";
  const wire::TaskDoneT done = TestWorker(options_).run(task);
  ASSERT_TRUE(done.failed);
  EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::not_found)) << done.error;
  EXPECT_EQ(done.side, wire::FaultSide::store);
}

}  // namespace
}  // namespace forebay::job
