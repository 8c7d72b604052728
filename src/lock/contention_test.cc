// Processes that walk and jump over the same records, and are killed while they hold and borrow: no record is ever seen
// half written, and no update is lost. FOREBAY_TEST_ACCESSES makes as many accesses as that.
#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock/inspect.h"
#include "lock/test_server.h"

namespace forebay::lock {
namespace {

using namespace testing_support;
using std::memory_order_relaxed;

constexpr int kRecords = 256, kWords = 8, kMostWriters = 16;
constexpr uint64_t kRecordBytes = 64;

struct Record {
  std::atomic<int> writer;  // 0 between updates
  std::atomic<uint64_t> words[kWords];
};

// What the processes share: the "file", and what they have seen.
struct Shared {
  Record records[kRecords];
  std::atomic<uint64_t> accesses, updates, torn, errors;
  std::atomic<int> killed[1 << 12];
  std::atomic<int> kills;
};

bool was_killed(const Shared& shared, int process) {
  for (int i = 0; i < shared.kills.load(); ++i)
    if (shared.killed[i].load() == process) return true;
  return false;
}

// Of a record whose writer was killed, the update is made whole.
void check(Shared& shared, Record& record, bool may_mend) {
  const int writer = record.writer.load();
  if (writer != 0 && !was_killed(shared, writer)) ++shared.torn;
  uint64_t most = 0;
  bool equal = true;
  for (const auto& word : record.words) {
    equal = equal && word.load(memory_order_relaxed) == record.words[0].load(memory_order_relaxed);
    most = std::max(most, word.load(memory_order_relaxed));
  }
  if (!equal && writer == 0) ++shared.torn;
  if (writer == 0 || !may_mend) return;
  for (auto& word : record.words) word.store(most, memory_order_relaxed);
}

// Lets others run in the middle now and then, so that some are killed there.
void update(Shared& shared, Record& record) {
  check(shared, record, true);
  record.writer.store(::getpid());
  for (auto& word : record.words) {
    word.store(word.load(memory_order_relaxed) + 1, memory_order_relaxed);
    if (&word == &record.words[kWords / 2] && shared.updates.load() % 8 == 0) std::this_thread::yield();
  }
  ++shared.updates;
  record.writer.store(0);
}

// Walks in equal steps for a while, then goes somewhere else.
void work(Shared& shared, const std::vector<fabric::Address>& server, uint32_t seed, uint64_t accesses) {
  ClientOptions options = client_options(server);
  options.borrow = true;
  const auto client = Client::create(std::move(options)).value();
  std::mt19937 random(seed);
  while (shared.accesses.load() < accesses) {
    const uint64_t step = 1 + random() % 5, width = 1 + random() % 2;
    const bool writes = random() % 3 != 0;
    uint64_t at = random() % kRecords;
    for (uint64_t left = 1 + random() % 60; left > 0 && at + width <= kRecords; --left, at += step) {
      const auto access = writes ? Access::exclusive : Access::shared;
      auto lock = client->lock("f", bytes(at * kRecordBytes, width * kRecordBytes), access);
      if (!lock) {
        ++shared.errors;
        return;
      }
      for (uint64_t i = at; i < at + width; ++i)
        writes ? update(shared, shared.records[i]) : check(shared, shared.records[i], false);
      if (!lock->unlock()) ++shared.errors;
      ++shared.accesses;
    }
  }
}

class Contention : public testing::TestWithParam<int> {
 protected:
  Contention() {
    void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    shared_ = new (memory) Shared();
  }
  ~Contention() override { ::munmap(shared_, sizeof(Shared)); }

  template <class Body>
  static pid_t process(const Body& body) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    body();
    ::_exit(0);
  }

  // Noted before anybody can get what it held.
  void kill(pid_t& writer) {
    ::kill(writer, SIGSTOP);
    ::waitpid(writer, nullptr, WUNTRACED);
    shared_->killed[shared_->kills.load()].store(writer);
    ++shared_->kills;
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
  }

  Shared* shared_ = nullptr;
};

// A request for anything but one or two records that follow each other.
bool is_lent(const wire::StatusRequest& request) {
  return request.granted && (request.segments > 1 || request.bounds.end - request.bounds.first > 2 * kRecordBytes);
}

TEST_P(Contention, TearsNothingAndLosesNothing) {
  const char* const wanted = std::getenv("FOREBAY_TEST_ACCESSES");
  const uint64_t accesses = wanted ? std::strtoull(wanted, nullptr, 10) : 20'000;
  const auto address = unix_address();
  pid_t server = process([&] {
    const auto running = Server::start(server_options(address)).value();
    ::pause();
  });
  ::usleep(100'000);
  uint32_t seed = 0;
  const auto start = [&] { return process([&] { work(*shared_, {address}, ++seed, accesses); }); };
  std::vector<pid_t> writers;
  for (int i = 0; i < GetParam(); ++i, ++seed) writers.push_back(start());
  std::mt19937 random(7);
  auto inspector = Inspector::connect({address}, client_options({address}).credentials).value();
  int64_t lent = 0;
  while (shared_->accesses.load() < accesses && shared_->errors.load() == 0 && shared_->kills.load() < 4000) {
    ::usleep(20'000);
    lent += std::ranges::count_if(inspector.ask().value().requests, is_lent);
    pid_t& one = writers[random() % writers.size()];
    kill(one);
    ++seed;
    one = start();
  }
  for (const pid_t writer : writers) ::waitpid(writer, nullptr, 0);
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);

  uint64_t sum = 0;
  for (Record& record : shared_->records) {
    check(*shared_, record, true);
    sum += record.words[0].load();
  }
  EXPECT_EQ(shared_->torn.load(), 0u);
  EXPECT_EQ(shared_->errors.load(), 0u);
  EXPECT_GE(shared_->accesses.load(), accesses);
  EXPECT_GT(lent, 0);
  // What is counted was stored before, and what a killed process was at is made whole, counted or not.
  const uint64_t updates = shared_->updates.load(), kills = static_cast<uint64_t>(shared_->kills.load());
  EXPECT_LE(sum, updates + kills);
  EXPECT_GE(sum, updates);
  RecordProperty("kills", static_cast<int>(kills));
  RecordProperty("lent", static_cast<int>(lent));
}

INSTANTIATE_TEST_SUITE_P(Processes, Contention, testing::Values(6, kMostWriters));

}  // namespace
}  // namespace forebay::lock
