// Workers against agents in threads and in processes that die.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "job/worker/test_tasks.h"

namespace forebay::job {
namespace {

using namespace testing_support;
using testing::HasSubstr;

TEST_F(WorkerTest, PacksThroughAllTransportsWhatPackMakes) {
  write_ranks(6, 100'000);
  stage_ranks();
  start_agents("here", "elsewhere");
  uint64_t id = 0;
  // Both transports at once; the connections alone; and, as nothing is asked of them, without an agent.
  for (const FabricChoice fabric : {FabricChoice::automatic, FabricChoice::stream, FabricChoice::node}) {
    SCOPED_TRACE(static_cast<int>(fabric));
    options_.fabric = fabric;
    wire::TaskT task = pack_task(++id);
    if (fabric == FabricChoice::node) {
      add_peer(task, "here", "unix:@forebay-nobody", 1);
      add_peer(task, "here", "unix:@forebay-nobody", 2);
    } else {
      add_agents(task);
    }
    fs::remove_all(path("store"));
    expect_same_as_packed(TestWorker(options_).run(task), task);
  }
}

TEST_F(WorkerTest, DoesAsManyTasksAtOnceAsItHasStreams) {
  write_ranks(6, 100'000);
  stage_ranks();
  start_agents("here", "elsewhere");
  options_.streams = 2;
  options_.resources.memory_bytes = uint64_t{4} << 30;  // frames are as large as those of pack()
  ASSERT_EQ(most_streams(options_), 2u);
  TestWorker worker(options_);
  std::vector<wire::TaskT> tasks;
  for (uint64_t id = 1; id <= 2; ++id) {
    tasks.push_back(pack_task(id));
    add_agents(tasks.back());
    check(worker.worker().start(tasks.back()));
  }
  EXPECT_EQ(error(worker.worker().start(pack_task(2))).kind, ErrorKind::invalid_argument);
  for (int i = 0; i < 2; ++i) {
    const wire::TaskDoneT done = worker.wait();
    fs::remove_all(path("store"));
    expect_same_as_packed(done, tasks.at(done.id - 1));
  }
  EXPECT_FALSE(worker.worker().busy());
}

TEST_F(WorkerTest, HasFewerStreamsWhereFramesWouldBecomeSmaller) {
  options_.streams = 4;
  options_.resources.memory_bytes = 64 << 20;
  EXPECT_EQ(most_streams(options_), 1u);
  options_.resources.memory_bytes = uint64_t{64} << 30;
  EXPECT_EQ(most_streams(options_), 4u);
}

// UCX does not survive a fork(): only children use it.
TEST_F(WorkerTest, PacksThroughUcxWhatPackMakes) {
  write_ranks(6, 100'000);
  stage_ranks();
  const Child agents([&](const Child::Announce& tell) { tell_agents(tell); });
  wire::TaskT task = pack_task();
  add_told(task, agents.said());
  options_.fabric = FabricChoice::ucx;
  const Child worker([&](const Child::Announce& tell) { tell(outcome(TestWorker(options_).run(task))); });
  if (worker.said().starts_with("unsupported")) GTEST_SKIP() << worker.said();
  EXPECT_EQ(worker.said(), "packed");
  EXPECT_TRUE(read_text(out() + task.container) == read_text(reference()));
}

TEST_F(WorkerTest, TheOrderOfFilesInATaskDoesNotMatter) {
  write_ranks(4, 1000);
  stage_ranks();
  start_agents("here", "elsewhere");
  wire::TaskT task = pack_task();
  add_agents(task);
  std::ranges::reverse(task.files);
  expect_same_as_packed(TestWorker(options_).run(task), task);
}

TEST_F(WorkerTest, AStageThatIsNotTheAgentsIsNotReadHere) {
  write_ranks(4, 1000);
  stage_ranks();
  start_agents("here", "here");
  wire::TaskT task = pack_task();
  add_agents(task);
  // As if this process saw another file system at that place: with one other file, or with none.
  const std::string other = path("other/") + kSet;
  fs::create_directories(path("other"));
  const std::string own = stage(0) + "/" + kSet;
  fs::copy(own, other, fs::copy_options::recursive);
  for (const char* const same : {"/notes.txt", "/rank101/state.npy"})
    fs::last_write_time(other + same, fs::last_write_time(own + same));
  write_text(other + "/rank100/state.npy", "not the agent's");
  task.peers[0]->stage = path("other");
  expect_same_as_packed(TestWorker(options_).run(task), task);
  fs::remove_all(other);
  fs::remove_all(path("store"));
  task.container += "-again";
  expect_same_as_packed(TestWorker(options_).run(task), task);
}

TEST_F(WorkerTest, SaysWhichSourceChanged) {
  write_ranks(4, 1000);
  stage_ranks();
  start_agents("here", "elsewhere");
  fs::create_directory(path("out2"));
  for (const uint32_t peer : {1u, 0u}) {
    SCOPED_TRACE(peer);
    const std::string file =
        stage(static_cast<int>(peer)) + "/" + kSet + (peer == 0 ? "/rank100" : "/rank103") + "/state.npy";
    fs::remove(file);
    write_text(file, "something else");
    wire::TaskT task = pack_task(peer + 1);
    add_agents(task);
    const wire::TaskDoneT done = TestWorker(options_).run(task);
    expect_source_failed(done, ErrorKind::changed, peer);
    EXPECT_THAT(done.error, HasSubstr("state.npy"));
  }
}

// Before the task begins, and with the size and the time that were offered: the inode's time tells.
TEST_F(WorkerTest, NoticesWhatWasRewrittenAndHasItsOldTimes) {
  write_ranks(4, 1000);
  stage_ranks();
  start_agents("here", "here");
  wire::TaskT task = pack_task();
  add_agents(task);
  const std::string file = stage(1) + "/" + kSet + "/rank102/state.npy";
  const auto time = fs::last_write_time(file);
  let_file_time_pass(path("clock"));
  {
    std::fstream rewritten(file, std::ios::in | std::ios::out | std::ios::binary);
    rewritten.seekp(200) << "other bytes";
  }
  fs::last_write_time(file, time);
  expect_source_failed(TestWorker(options_).run(task), ErrorKind::changed, 1);
}

TEST_F(WorkerTest, AnOfferThatIsNotWhatTheAgentHasIsItsFault) {
  write_ranks(4, 1000);
  stage_ranks();
  start_agents("here", "elsewhere");
  wire::TaskT task = pack_task();
  add_agents(task);
  for (auto& file : task.files)
    if (file->peer == 1 && file->index == 1) file->file->mtime_s += 1;
  const wire::TaskDoneT done = TestWorker(options_).run(task);
  expect_source_failed(done, ErrorKind::changed, 1);
  EXPECT_THAT(done.error, HasSubstr("rank103/state.npy"));
}

TEST_F(WorkerTest, NoticesAChangeWhileItPacks) {
  write_ranks(4, 1'000'000);
  stage_ranks();
  RateLimit limit(4 << 20);
  options_.limit = &limit;
  for (const char* const node : {"here", "elsewhere"}) {
    SCOPED_TRACE(node);
    agents_.clear();
    exposures_.clear();
    start_agents("here", node);
    wire::TaskT task = pack_task();
    add_agents(task);
    TestWorker worker(options_);
    check(worker.worker().start(task));
    worker.wait_for_progress(1);
    fs::last_write_time(stage(1) + "/" + kSet + "/rank102/state.npy", fs::file_time_type::clock::now());
    expect_source_failed(worker.wait(), ErrorKind::changed, 1);
    scanned_ = value(engine::scan_tree(std::vector<std::string>{tree()}));
  }
}

TEST_F(WorkerTest, AnExposureThatIsGoneIsTheSourcesFault) {
  write_ranks(4, 1000);
  stage_ranks();
  start_agents("elsewhere", "elsewhere");
  wire::TaskT task = pack_task();
  add_agents(task);
  task.peers[1]->exposure += 1;
  expect_source_failed(TestWorker(options_).run(task), ErrorKind::not_found, 1);
}

TEST_F(WorkerTest, AnAgentThatIsNotThereIsTheSourcesFault) {
  write_ranks(4, 1000);
  stage_ranks();
  wire::TaskT task = pack_task();
  add_peer(task, "here", "unix:@forebay-nobody", 1);
  add_peer(task, "elsewhere", "unix:@forebay-nobody", 1);
  expect_source_failed(TestWorker(options_).run(task), ErrorKind::disconnected, 1);
}

// An agent that is killed or stopped in the middle.
struct Death {
  int signal;
  FabricChoice fabric;
};
class DyingAgentTest : public WorkerTest, public testing::WithParamInterface<Death> {};

TEST_P(DyingAgentTest, IsTheSourcesFaultSoon) {
  write_ranks(8, 1'000'000);
  stage_ranks();
  wire::TaskT task = pack_task();
  std::vector<std::unique_ptr<Child>> children;
  for (int peer = 0; peer < 2; ++peer) {
    children.push_back(std::make_unique<Child>([&](const Child::Announce& tell) {
      TestAgent agent(stage(peer));
      const uint64_t exposure = agent.expose(kSet);
      agent.serve();
      tell(agent.addresses() + " " + std::to_string(exposure));
      ::pause();
    }));
    add_told(task, children.back()->said());
  }
  RateLimit limit(24 << 20);
  options_.limit = &limit;
  options_.patience = 500ms;
  options_.fabric = GetParam().fabric;
  const Child worker([&](const Child::Announce& tell) {
    TestWorker own(options_);
    check(own.worker().start(task));
    own.wait_for_progress(1);
    children[1]->signal(GetParam().signal);
    const auto before = std::chrono::steady_clock::now();
    const std::string said = outcome(own.wait());
    tell(said + (std::chrono::steady_clock::now() - before < 6s ? " soon" : " late"));
  });
  if (worker.said().starts_with("unsupported")) GTEST_SKIP() << worker.said();
  EXPECT_EQ(worker.said(), GetParam().signal == SIGKILL ? "disconnected source 1 soon" : "timeout source 1 soon");
  EXPECT_TRUE(fs::is_empty(out()));
}
INSTANTIATE_TEST_SUITE_P(, DyingAgentTest,
                         testing::Values(Death{SIGKILL, FabricChoice::stream}, Death{SIGSTOP, FabricChoice::stream},
                                         Death{SIGKILL, FabricChoice::ucx}, Death{SIGSTOP, FabricChoice::ucx}),
                         [](const auto& death) {
                           return std::string(death.param.signal == SIGKILL ? "Killed" : "Stopped") +
                                  (death.param.fabric == FabricChoice::ucx ? "WithUcx" : "");
                         });

TEST_F(WorkerTest, AFullStoreIsTheStoresFault) {
  write_ranks(4, 500'000);
  stage_ranks();
  start_agents("here", "elsewhere");
  wire::TaskT task = pack_task();
  add_agents(task);
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const wire::TaskDoneT done = TestWorker(options_).run(task);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(done.failed);
  EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::no_space)) << done.error;
  EXPECT_EQ(done.side, wire::FaultSide::store);
  EXPECT_TRUE(fs::is_empty(out()));
}

TEST_F(WorkerTest, WritesOverNothing) {
  write_ranks(2, 1000);
  stage_ranks();
  start_agents("here", "here");
  wire::TaskT task = pack_task();
  add_agents(task);
  write_text(out() + task.container, "another's");
  const wire::TaskDoneT done = TestWorker(options_).run(task);
  EXPECT_TRUE(done.failed);
  EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::exists));
  EXPECT_EQ(read_text(out() + task.container), "another's");
}

TEST_F(WorkerTest, EndsATaskThatIsCancelledAndTakesTheNext) {
  write_ranks(4, 1'000'000);
  stage_ranks();
  start_agents("here", "elsewhere");
  RateLimit slow(1 << 20);
  options_.limit = &slow;
  wire::TaskT task = pack_task(7);
  add_agents(task);
  {
    TestWorker worker(options_);
    check(worker.worker().start(task));
    EXPECT_EQ(error(worker.worker().start(task)).kind, ErrorKind::invalid_argument);
    worker.worker().cancel(8);
    worker.wait_for_progress(1);
    EXPECT_TRUE(worker.worker().busy());
    const auto before = std::chrono::steady_clock::now();
    worker.worker().cancel(7);
    const wire::TaskDoneT done = worker.wait();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 3s);
    EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::cancelled)) << done.error;
    EXPECT_EQ(done.side, wire::FaultSide::other);
    EXPECT_TRUE(fs::is_empty(out()));
    EXPECT_FALSE(worker.worker().busy());
    check(worker.worker().start(task));
    worker.wait_for_progress(1);
    // And its end ends the task.
  }
  EXPECT_TRUE(fs::is_empty(out()));
}

TEST_F(WorkerTest, TellsThatLayoutsAreReadHere) {
  write_ranks(2, 100);
  stage_ranks();
  start_agents("here", "here");
  wire::TaskT task = pack_task();
  add_agents(task);
  TestWorker worker(options_);
  EXPECT_FALSE(worker.run(task).failed);
  EXPECT_GT(worker.steps(), 0u);
}

TEST_F(WorkerTest, EndsATaskWhoseAgentOnlySaysThatItIsAlive) {
  write_ranks(2, 100);
  stage_ranks();
  HubThread alive;
  std::vector<fabric::ConnectionId> askers;  // the hub's thread's
  std::atomic<size_t> asked = 0;
  std::atomic<uint64_t> moves = 1;
  alive.serve(
      [&](fabric::ConnectionId id, const fabric::Frame&) {
        askers.push_back(id);
        asked = askers.size();
        return Result<void>();
      },
      [](fabric::ConnectionId) {},
      [&] {
        for (const fabric::ConnectionId asker : askers) {
          wire::PingT ping;
          ping.moves = moves;
          wire::BodyUnion body;
          body.Set(std::move(ping));
          send(alive.hub(), asker, std::move(body));
        }
      });
  start_agents("elsewhere", "elsewhere");
  wire::TaskT task = pack_task(7);
  add_agents(task);
  for (auto& peer : task.peers) peer->addresses = alive.addresses();
  TestWorker worker(options_);
  check(worker.worker().start(task));
  while (asked < 2) std::this_thread::sleep_for(1ms);
  const auto tells_of = [&](uint64_t steps) {
    for (int i = 0; i < 2000 && worker.steps() < steps; ++i) std::this_thread::sleep_for(1ms);
    return worker.steps();
  };
  EXPECT_EQ(tells_of(1), 1u) << "an agent that reads";
  std::this_thread::sleep_for(400ms);
  moves = 2;
  EXPECT_EQ(tells_of(2), 2u) << "and gets on";
  std::this_thread::sleep_for(400ms);
  EXPECT_EQ(worker.steps(), 2u) << "but no more";
  worker.worker().cancel(7);
  const auto before = std::chrono::steady_clock::now();
  const wire::TaskDoneT done = worker.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 3s);
  EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::cancelled)) << done.error;
  EXPECT_EQ(done.side, wire::FaultSide::other);
  alive.stop();
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;  // sanitizers keep much of it
#else
constexpr bool kMemoryIsOurs = true;
#endif

uint64_t resident_bytes() {
  uint64_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A safetensors file of many small variables.
std::string many_variables(int count) {
  std::string header = "{";
  for (int i = 0; i < count; ++i)
    header += (i == 0 ? "" : ",") + std::string("\"v") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) + "," + std::to_string(i + 1) +
              "]}";
  header += "}";
  std::string text(8, '\0');
  for (size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(header.size() >> 8 * i & 0xff);
  return text + header + std::string(static_cast<size_t>(count), 'x');
}

TEST_F(WorkerTest, SaysWithHowMuchMemoryItsVariablesWouldFit) {
  write_text(tree() + "/rank100/state.safetensors", many_variables(60'000));
  stage_ranks();
  start_agents("here", "here");
  wire::TaskT task = pack_task();
  add_agents(task);
  options_.resources.memory_bytes = 64 << 20;
  const wire::TaskDoneT done = TestWorker(options_).run(task);
  ASSERT_TRUE(done.failed);
  EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::limit)) << done.error;
  const size_t at = done.error.find("has --memory 64M; ");
  ASSERT_NE(at, std::string::npos) << done.error;
  options_.resources.memory_bytes = std::stoull(done.error.substr(at + 18)) << 20;
  const wire::TaskDoneT again = TestWorker(options_).run(task);
  EXPECT_FALSE(again.failed) << again.error << ", after: " << done.error;
}

TEST_F(WorkerTest, KeepsToItsMemory) {
  if (!kMemoryIsOurs) GTEST_SKIP() << "not with a sanitizer";
  constexpr uint64_t kBudget = 96 << 20;  // half of the data
  write_ranks(8, 3'000'000);
  stage_ranks();
  const Child agents([&](const Child::Announce& tell) { tell_agents(tell); });
  const Child worker([&](const Child::Announce& tell) {
    wire::TaskT task = pack_task();
    add_told(task, agents.said());
    options_.resources.memory_bytes = kBudget;
    const uint64_t before = resident_bytes();
    const wire::TaskDoneT done = TestWorker(options_).run(task);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto peak = static_cast<uint64_t>(usage.ru_maxrss) << 10;
    tell(done.failed ? done.error : "packed " + std::to_string(peak - std::min(peak, before)));
  });
  ASSERT_THAT(worker.said(), testing::StartsWith("packed "));
  const uint64_t used = std::stoull(worker.said().substr(7));
  EXPECT_LT(used, kBudget);
  RecordProperty("peak", std::to_string(used >> 20));
}

}  // namespace
}  // namespace forebay::job
