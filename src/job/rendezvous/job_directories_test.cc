#include "job/rendezvous/job_directories.h"

#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "job/rendezvous/rendezvous.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using nlohmann::json;

// A process that waits to be killed.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  ~Child() { end(); }
  void kill() { ::kill(pid_, SIGKILL); }
  void end() {
    if (pid_ <= 0) return;
    kill();
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  // As if this process had made the lease.
  Holder holder() const {
    Holder holder = value(this_holder("./app"));
    std::string stat;
    std::getline(std::ifstream("/proc/" + std::to_string(pid_) + "/stat"), stat);
    holder.pid = static_cast<uint64_t>(pid_);
    holder.pid_started = parse_process_start(stat).value();
    return holder;
  }

 private:
  pid_t pid_;
};

Holder elsewhere() {
  Holder holder = value(this_holder("./app"));
  holder.processes = "another boot";
  holder.host = "n7";
  return holder;
}

class JobDirectoriesTest : public TempTest {
 protected:
  std::string jobs() const { return path("jobs"); }
  // With all that a job has while it runs.
  std::string make(const std::string& id, const Holder& holder) const {
    const std::string made = value(make_job_directory(jobs(), id, holder));
    const auto rendezvous = value(Rendezvous::open(made));
    EXPECT_TRUE(value(rendezvous.take(1, {.addresses = "tcp:127.0.0.1:1", .host = "h", .node = "n", .pid = 1})));
    fs::create_directory(made + "/log");
    std::ofstream(made + "/log/agent-n1") << "said\n";
    return made;
  }
  void age(const std::string& file, std::chrono::seconds by) const {
    const timespec then{std::time(nullptr) - by.count(), 0};
    const timespec times[] = {then, then};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }
  JobState state(const std::string& id) const {
    for (const JobEntry& entry : value(list_jobs(jobs())))
      if (entry.id == id) return entry.state;
    ADD_FAILURE() << "no job " << id;
    return JobState::unknown;
  }
  std::vector<std::string> names(const std::string& directory) const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(directory)) all.push_back(entry.path().filename());
    return all;
  }
};

TEST_F(JobDirectoriesTest, TellsTheLivingFromTheDead) {
  Child living, killed;
  make("living", living.holder());
  make("killed", killed.holder());
  make("elsewhere", elsewhere());
  make("silent", elsewhere());
  age(jobs() + "/silent/lease", kLease + 5s);
  fs::create_directory(jobs() + "/older-forebay");
  EXPECT_EQ(state("killed"), JobState::running);
  killed.kill();  // and is not waited for: it stays in the table of processes
  while (state("killed") == JobState::running) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(state("killed"), JobState::died);
  EXPECT_EQ(state("living"), JobState::running);
  EXPECT_EQ(state("elsewhere"), JobState::running);
  EXPECT_EQ(state("silent"), JobState::silent);
  EXPECT_EQ(state("older-forebay"), JobState::unknown);
}

TEST_F(JobDirectoriesTest, TheDeadLoseTheirSecretAndKeepTheirLogs) {
  Child process;
  const std::string dead = make("4711", process.holder());
  process.end();
  const auto cleaned = clean_jobs(jobs());
  ASSERT_EQ(cleaned.size(), 1u);
  EXPECT_EQ(cleaned[0].id, "4711");
  EXPECT_THAT(names(dead), testing::UnorderedElementsAre("summary", "log"));
  EXPECT_TRUE(fs::exists(dead + "/log/agent-n1"));
  const auto entries = value(list_jobs(jobs()));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].state, JobState::ended);
  EXPECT_EQ(entries[0].summary->at("outcome"), "died");
  EXPECT_EQ(entries[0].summary->at("command"), "./app");
  EXPECT_TRUE(clean_jobs(jobs()).empty());
}

TEST_F(JobDirectoriesTest, WhatMayBeAliveIsNotTouched) {
  Child process;
  std::vector<std::string> kept = {make("living", process.holder()), make("elsewhere", elsewhere()),
                                   make("silent", elsewhere()), make("damaged", elsewhere())};
  age(kept[2] + "/lease", kForgotten - 1h);
  std::ofstream(kept[3] + "/lease", std::ios::app) << " ";
  age(kept[3] + "/lease", 2 * kForgotten);
  EXPECT_TRUE(clean_jobs(jobs(), 0).empty());
  for (const std::string& one : kept)
    EXPECT_THAT(names(one), testing::UnorderedElementsAre("lease", "secret", "coordinator.1", "log")) << one;
  age(kept[2] + "/lease", kForgotten);
  EXPECT_EQ(clean_jobs(jobs()).size(), 1u);
}

TEST_F(JobDirectoriesTest, AnEndIsToldOnceAndIsFinishedByTheNext) {
  const std::string job = make("1", value(this_holder("./app")));
  check(end_job(job, {{"outcome", "ended"}, {"exit_code", 3}}, false));
  EXPECT_THAT(names(job), testing::ElementsAre("summary"));
  check(end_job(job, {{"outcome", "died"}}, true));
  EXPECT_EQ(value(list_jobs(jobs()))[0].summary->at("exit_code"), 3) << "what came first counts";
  std::ofstream(job + "/secret") << "as if it had been interrupted";
  clean_jobs(jobs());
  EXPECT_THAT(names(job), testing::ElementsAre("summary"));
}

TEST_F(JobDirectoriesTest, TheNewestOfThoseThatEndedAreKept) {
  for (int i = 0; i < 6; ++i)
    check(end_job(make("job" + std::to_string(i), elsewhere()), {{"ended_seconds", 100 - i}}, true));
  make("running", elsewhere());
  fs::create_directories(jobs() + "/.gone-1/log");
  fs::create_directories(jobs() + "/.new-1");
  clean_jobs(jobs(), 2);
  EXPECT_THAT(names(jobs()), testing::UnorderedElementsAre("job0", "job1", "running", ".new-1"));
}

TEST_F(JobDirectoriesTest, ManyCleanAtOnce) {
  for (int i = 0; i < 8; ++i) {
    Child process;
    make(std::to_string(i), process.holder());
  }
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([this] { clean_jobs(jobs()); });
  }
  clean_jobs(jobs());  // what one could not do, since another did something else
  for (const JobEntry& entry : value(list_jobs(jobs()))) {
    EXPECT_EQ(entry.state, JobState::ended);
    EXPECT_THAT(names(entry.path), testing::UnorderedElementsAre("summary", "log")) << entry.id;
  }
}

TEST_F(JobDirectoriesTest, AnIdThatIsThereIsNotTakenAgain) {
  const Holder holder = elsewhere();
  EXPECT_EQ(value(make_job_directory(jobs(), "7", holder)), jobs() + "/7");
  check(end_job(jobs() + "/7", json::object(), false));
  EXPECT_EQ(value(make_job_directory(jobs(), "7", holder)), jobs() + "/7.2");
  EXPECT_EQ(state("7.2"), JobState::running);
  EXPECT_FALSE(make_job_directory(path("none/jobs"), "7", holder));
  EXPECT_TRUE(value(list_jobs(path("none/jobs"))).empty());
}

TEST_F(JobDirectoriesTest, AKeeperRenewsTheLeaseAndEndsWithItsObject) {
  const std::string job = make("1", value(this_holder("./app")));
  {
    const auto keeper = value(LeaseKeeper::start(lease_of(job), 10ms));
    age(lease_of(job), 1h);
    const auto seen = [&] { return value(see_lease(lease_of(job), file_system_time(jobs()))); };
    EXPECT_GE(seen().silence, 1h);
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (seen().silence > 1min && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
    EXPECT_LT(seen().silence, 1min);
  }
  age(lease_of(job), 1h);
  std::this_thread::sleep_for(50ms);
  EXPECT_GE(value(see_lease(lease_of(job), file_system_time(jobs()))).silence, 1h) << "the keeper goes on";
}

}  // namespace
}  // namespace forebay::job
