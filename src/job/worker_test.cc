// Workers against agents in threads and in processes that die.
#include "job/worker.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/extract.h"
#include "engine/group_report.h"
#include "job/test_worker.h"

namespace forebay::job {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSet = "dump_0040";

std::string npy_file(const std::vector<double>& values) {
  std::string text(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return engine::npy_header({Kind::floating, ByteOrder::little, 8}, {values.size()}) + text;
}

// A set of one file per rank, whole in tree() and in parts, which are the same files, in the stages of two agents.
class WorkerTest : public TempTest {
 protected:
  WorkerTest() {
    options_.credentials = credentials();
    options_.node = "here";
    options_.patience = 3s;
    options_.pack.profile = value(codec::Profile::parse("fast"));
    options_.resources = {.memory_bytes = 256 << 20, .threads = 2, .progress = {}};
    fs::create_directory(path("out"));
  }

  std::string tree() const { return path("tree"); }
  std::string stage(int peer) const { return path("stage") + std::to_string(peer); }

  void write_ranks(int ranks, size_t values) {
    std::mt19937_64 random(1);
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<double> all(values);
      for (size_t i = 0; i < values; ++i)
        all[i] =
            static_cast<double>(rank) + 0.25 * static_cast<double>(i * i % 1009) + static_cast<double>(random() % 64);
      write_text(tree() + "/rank" + std::to_string(100 + rank) + "/state.npy", npy_file(all));
    }
    write_text(tree() + "/notes.txt", "a file of no particular rank\n");
    write_text(tree() + "/notes/more.txt", "whose directory's name begins as that file's\n");
    fs::create_symlink("notes.txt", tree() + "/link");
  }

  // The first half of the ranks is with agent 0, the second with agent 1.
  void stage_ranks() {
    const std::vector<std::string> roots{tree()};
    scanned_ = value(engine::scan_tree(roots));
    for (int peer = 0; peer < 2; ++peer) make_stage(stage(peer));
    for (const engine::SourceFile& file : scanned_.files) {
      const fs::path to = stage(peer_of(file.row.rank)) + "/" + kSet + "/" + file.row.name;
      fs::create_directories(to.parent_path());
      if (file.row.kind == FileKind::regular) fs::create_hard_link(file.path, to);
    }
  }
  int peer_of(uint32_t rank) const { return rank < (scanned_.ranks + 1) / 2 ? 0 : 1; }

  wire::TaskT pack_task(uint64_t id = 1) const {
    wire::TaskT task;
    task.id = id;
    task.kind = wire::TaskKind::pack;
    task.set = kSet;
    task.directory = path("out");
    task.container = "task-" + std::to_string(id);
    uint32_t offered[2] = {0, 0};
    for (const engine::SourceFile& file : scanned_.files) {
      auto entry = std::make_unique<wire::TaskFileT>();
      entry->peer = static_cast<uint32_t>(peer_of(file.row.rank));
      if (file.row.kind == FileKind::regular) entry->index = offered[entry->peer]++;
      entry->file = std::make_unique<wire::FileT>();
      entry->file->name = file.row.name;
      entry->file->kind = static_cast<uint8_t>(file.row.kind);
      entry->file->mode = file.row.mode;
      entry->file->mtime_s = file.row.mtime_s;
      entry->file->mtime_ns = file.row.mtime_ns;
      entry->file->size = file.row.size;
      entry->file->link_target = file.row.link_target;
      entry->file->rank = static_cast<int32_t>(file.row.rank);
      task.files.push_back(std::move(entry));
    }
    return task;
  }

  void add_peer(wire::TaskT& task, const std::string& node, const std::string& addresses, uint64_t exposure) const {
    auto peer = std::make_unique<wire::PeerT>();
    peer->node = node;
    peer->host = "host" + std::to_string(task.peers.size());
    peer->addresses = addresses;
    peer->stage = stage(static_cast<int>(task.peers.size()));
    peer->exposure = exposure;
    task.peers.push_back(std::move(peer));
  }

  // Both agents in threads of this process, with the nodes that they say they are on.
  void start_agents(const std::string& node0, const std::string& node1) {
    nodes_ = {node0, node1};
    for (int peer = 0; peer < 2; ++peer) {
      agents_.push_back(std::make_unique<TestAgent>(stage(peer)));
      exposures_.push_back(fs::exists(stage(peer) + "/" + kSet) ? agents_.back()->expose(kSet) : 0);
      agents_.back()->serve();
    }
  }
  void add_agents(wire::TaskT& task) const {
    for (size_t i = 0; i < agents_.size(); ++i) add_peer(task, nodes_[i], agents_[i]->addresses(), exposures_[i]);
  }

  // Both agents in a process of their own, and what it tells of them as peers.
  void tell_agents(const Child::Tell& tell) {
    start_agents("elsewhere", "elsewhere");
    std::string said;
    for (size_t i = 0; i < 2; ++i) said += agents_[i]->addresses() + " " + std::to_string(exposures_[i]) + " ";
    tell(said);
    ::pause();
  }
  void add_told(wire::TaskT& task, const std::string& told) const {
    std::istringstream said(told);
    std::string addresses;
    for (uint64_t exposure = 0; said >> addresses >> exposure;) add_peer(task, "elsewhere", addresses, exposure);
  }

  // What `forebay pack` makes of the tree.
  std::string reference() const {
    engine::PackOptions pack = options_.pack;
    pack.sources = {tree()};
    pack.store = path("store");
    pack.name = kSet;
    pack.group_size = 1000;
    pack.resources = options_.resources;
    engine::SoloTeam team;
    value(engine::pack(pack, team));
    return path("store/sets/") + kSet + "/" + container_;
  }

  void expect_same_as_packed(const wire::TaskDoneT& done, const wire::TaskT& task) {
    ASSERT_FALSE(done.failed) << done.error;
    const auto report = engine::parse_group_report(done.report);
    ASSERT_TRUE(report);
    const std::string made = read_text(task.directory + "/" + task.container);
    EXPECT_EQ(report->entry.bytes, made.size());
    EXPECT_TRUE(made == read_text(reference()));
  }

  void expect_source_failed(const wire::TaskDoneT& done, ErrorKind kind, uint32_t peer) const {
    ASSERT_TRUE(done.failed);
    EXPECT_EQ(done.error_kind, static_cast<uint8_t>(kind)) << done.error;
    EXPECT_EQ(done.side, wire::FaultSide::source) << done.error;
    EXPECT_EQ(done.peer, peer) << done.error;
    EXPECT_TRUE(fs::is_empty(path("out")));
  }

  // For one line between processes.
  static std::string outcome(const wire::TaskDoneT& done) {
    if (!done.failed) return "packed";
    return std::string(to_string(static_cast<ErrorKind>(done.error_kind))) + " " + wire::EnumNameFaultSide(done.side) +
           " " + std::to_string(done.peer);
  }

  static constexpr const char* container_ = "00000-of-00001.fbc";
  WorkerOptions options_;
  engine::SourceTree scanned_;
  std::vector<std::string> nodes_;
  std::vector<std::unique_ptr<TestAgent>> agents_;
  std::vector<uint64_t> exposures_;
};

TEST_F(WorkerTest, PacksThroughAllRoadsWhatPackMakes) {
  write_ranks(6, 100'000);
  stage_ranks();
  start_agents("here", "elsewhere");
  uint64_t id = 0;
  // Both roads at once; the connections alone; and, as nothing is asked of them, without an agent.
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

// UCX does not survive a fork(): only children use it.
TEST_F(WorkerTest, PacksThroughUcxWhatPackMakes) {
  write_ranks(6, 100'000);
  stage_ranks();
  const Child agents([&](const Child::Tell& tell) { tell_agents(tell); });
  wire::TaskT task = pack_task();
  add_told(task, agents.said());
  options_.fabric = FabricChoice::ucx;
  const Child worker([&](const Child::Tell& tell) { tell(outcome(TestWorker(options_).run(task))); });
  if (worker.said().starts_with("unsupported")) GTEST_SKIP() << worker.said();
  EXPECT_EQ(worker.said(), "packed");
  EXPECT_TRUE(read_text(task.directory + "/" + task.container) == read_text(reference()));
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
  RateLimit limit(16 << 20);
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
    children.push_back(std::make_unique<Child>([&](const Child::Tell& tell) {
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
  const Child worker([&](const Child::Tell& tell) {
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
  EXPECT_TRUE(fs::is_empty(path("out")));
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
  EXPECT_TRUE(fs::is_empty(path("out")));
}

TEST_F(WorkerTest, WritesOverNothing) {
  write_ranks(2, 1000);
  stage_ranks();
  start_agents("here", "here");
  wire::TaskT task = pack_task();
  add_agents(task);
  write_text(path("out/") + task.container, "another's");
  const wire::TaskDoneT done = TestWorker(options_).run(task);
  EXPECT_TRUE(done.failed);
  EXPECT_EQ(done.error_kind, static_cast<uint8_t>(ErrorKind::exists));
  EXPECT_EQ(read_text(path("out/") + task.container), "another's");
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
    EXPECT_TRUE(fs::is_empty(path("out")));
    EXPECT_FALSE(worker.worker().busy());
    check(worker.worker().start(task));
    worker.wait_for_progress(1);
    // And its end ends the task.
  }
  EXPECT_TRUE(fs::is_empty(path("out")));
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

TEST_F(WorkerTest, KeepsToItsMemory) {
  if (!kMemoryIsOurs) GTEST_SKIP() << "not with a sanitizer";
  constexpr uint64_t kBudget = 96 << 20;  // half of the data
  write_ranks(8, 3'000'000);
  stage_ranks();
  const Child agents([&](const Child::Tell& tell) { tell_agents(tell); });
  const Child worker([&](const Child::Tell& tell) {
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

// ---- deliveries

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
    start_agents(node0, node1);
  }

  wire::TaskT deliver_task() const {
    wire::TaskT task;
    task.id = 5;
    task.kind = wire::TaskKind::deliver;
    task.set = kSet;
    task.directory = path("store/sets/") + kSet;
    task.container = container_;
    task.stage_as = "back";
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
    check(publish_delivered(stage(peer), "back"));
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
  EXPECT_THAT(files_below(delivered_path(stage(1), "back")), testing::ElementsAre(EndsWith("rank104/state.npy")));
  EXPECT_THAT(files_below(delivered_path(stage(0), "back")), IsEmpty());
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
