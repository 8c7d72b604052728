// What every way to lock must do: the naive model in memory, one server over either transport, two servers.
#include <array>
#include <condition_variable>
#include <map>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "lock/test_server.h"

namespace forebay::lock {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;

// Something held; gives it back when it goes.
using Held = std::shared_ptr<void>;

class Locker {
 public:
  virtual ~Locker() = default;
  // Null if it is not granted by the deadline.
  virtual Held lock(int client, const std::string& file, const Region& region, Access access,
                    Clock::time_point deadline) = 0;
  virtual Held try_lock(int client, const std::string& file, const Region& region, Access access) = 0;
};

constexpr int kClients = 4;
constexpr uint64_t kModelBytes = 4096;

// Every request as a list of bytes; requests wait for earlier ones that have a byte in common.
class Model final : public Locker {
 public:
  Held lock(int, const std::string& file, const Region& region, Access access, Clock::time_point deadline) override {
    std::unique_lock lock(mutex_);
    const uint64_t me = add(file, region, access);
    while (blocked(me))
      if (changed_.wait_until(lock, deadline) == std::cv_status::timeout && blocked(me)) {
        remove(me);
        return nullptr;
      }
    return held(me);
  }

  Held try_lock(int, const std::string& file, const Region& region, Access access) override {
    const std::lock_guard lock(mutex_);
    const uint64_t me = add(file, region, access);
    if (!blocked(me)) return held(me);
    remove(me);
    return nullptr;
  }

 private:
  struct Request {
    std::string file;
    std::vector<bool> touched;
    Access access;
  };

  uint64_t add(const std::string& file, const Region& region, Access access) {
    std::vector<bool> touched(kModelBytes);
    const Region pieces = expanded(region, kModelBytes).value();
    for (const Term& term : pieces.terms())
      for (uint64_t at = term.start; at < term.start + term.length; ++at) touched.at(at) = true;
    requests_.emplace(++last_, Request{file, std::move(touched), access});
    return last_;
  }

  bool blocked(uint64_t me) const {
    const Request& mine = requests_.at(me);
    for (const auto& [number, other] : requests_) {
      if (number == me) return false;
      if (other.file != mine.file || (other.access == Access::shared && mine.access == Access::shared)) continue;
      for (size_t i = 0; i < kModelBytes; ++i)
        if (mine.touched[i] && other.touched[i]) return true;
    }
    return false;
  }

  void remove(uint64_t me) {
    requests_.erase(me);
    changed_.notify_all();
  }

  Held held(uint64_t me) {
    return Held(this, [me](void* model) {
      auto* self = static_cast<Model*>(model);
      const std::lock_guard lock(self->mutex_);
      self->remove(me);
    });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Request> requests_;
  uint64_t last_ = 0;
};

class Served final : public Locker {
 public:
  explicit Served(const std::vector<fabric::Address>& listen) {
    ClientOptions options = client_options({});
    options.servers.clear();
    for (const fabric::Address& address : listen) {
      servers_.push_back(Server::start(server_options(address)).value());
      options.servers.push_back(servers_.back()->addresses());
    }
    for (int i = 0; i < kClients; ++i) clients_.push_back(Client::create(options).value());
  }

  Held lock(int client, const std::string& file, const Region& region, Access access,
            Clock::time_point deadline) override {
    auto lock = clients_.at(client)->lock(file, region, access, deadline);
    if (lock) return std::make_shared<Lock>(std::move(*lock));
    EXPECT_EQ(lock.error().kind, ErrorKind::timeout) << lock.error().message();
    return nullptr;
  }

  Held try_lock(int client, const std::string& file, const Region& region, Access access) override {
    auto lock = clients_.at(client)->try_lock(file, region, access);
    EXPECT_TRUE(lock) << lock.error().message();
    return lock && *lock ? std::make_shared<Lock>(std::move(**lock)) : nullptr;
  }

 private:
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::shared_ptr<Client>> clients_;
};

struct Way {
  const char* name;
  std::unique_ptr<Locker> (*make)();
};

class Contract : public testing::TestWithParam<Way> {
 protected:
  static constexpr auto kExclusive = Access::exclusive;
  static constexpr auto kShared = Access::shared;
  static Clock::time_point soon() { return Clock::now() + 20ms; }
  static Clock::time_point never() { return Clock::now() + 60s; }
  std::unique_ptr<Locker> locker_ = GetParam().make();
};

TEST_P(Contract, ExclusiveExcludesAndSharedShares) {
  const auto reader = locker_->try_lock(0, "f", bytes(0, 10), kShared);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(locker_->try_lock(1, "f", bytes(5, 10), kShared));
  EXPECT_FALSE(locker_->try_lock(1, "f", bytes(9, 1), kExclusive));
  const auto writer = locker_->try_lock(1, "f", bytes(10, 1), kExclusive);
  EXPECT_TRUE(writer);
  EXPECT_FALSE(locker_->try_lock(2, "f", bytes(0, 100), kShared));
  EXPECT_TRUE(locker_->try_lock(2, "g", bytes(0, 100), kExclusive));
}

TEST_P(Contract, ClientsExcludeThemselves) {
  const auto held = locker_->try_lock(0, "f", bytes(0, 10), kExclusive);
  EXPECT_FALSE(locker_->try_lock(0, "f", bytes(0, 10), kShared));
}

TEST_P(Contract, InterleavedPiecesDoNotTouch) {
  const auto even = locker_->try_lock(0, "f", bytes(0, 8, {{100, 16}}), kExclusive);
  const auto odd = locker_->try_lock(1, "f", bytes(8, 8, {{100, 16}}), kExclusive);
  EXPECT_TRUE(even);
  EXPECT_TRUE(odd);
  EXPECT_FALSE(locker_->try_lock(2, "f", bytes(7, 2), kExclusive));
}

TEST_P(Contract, EmptyRegionsAreGranted) {
  const auto all = locker_->try_lock(0, "f", bytes(0, kModelBytes), kExclusive);
  EXPECT_TRUE(locker_->lock(1, "f", Region(), kExclusive, never()));
}

TEST_P(Contract, DeadlinesWithdraw) {
  auto held = locker_->lock(0, "f", bytes(0, 10), kExclusive, never());
  const auto before = Clock::now();
  EXPECT_FALSE(locker_->lock(1, "f", bytes(0, 10), kExclusive, soon()));
  EXPECT_GE(Clock::now() - before, 20ms);
  held.reset();
  EXPECT_TRUE(locker_->lock(2, "f", bytes(0, 10), kExclusive, never())) << "what was withdrawn stands in the way";
}

TEST_P(Contract, NobodyOvertakesWhoWaits) {
  auto reader = locker_->lock(0, "f", bytes(0, 10), kShared, never());
  std::atomic<bool> granted = false;
  std::jthread writer([&] {
    const auto held = locker_->lock(1, "f", bytes(0, 10), kExclusive, never());
    granted = true;
  });
  while (locker_->try_lock(2, "f", bytes(0, 10), kShared)) std::this_thread::yield();
  EXPECT_FALSE(granted);
  reader.reset();
  EXPECT_TRUE(locker_->lock(2, "f", bytes(0, 10), kShared, never()));
  EXPECT_TRUE(granted);
}

TEST_P(Contract, RandomRequestsNeverMeet) {
  constexpr int kThreads = 8, kRounds = 150;
  constexpr uint64_t kBytes = 256;
  struct Use {
    std::array<std::atomic<int>, kBytes> writers{}, readers{};
  };
  std::array<Use, 2> files;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      for (int round = 0; round < kRounds; ++round) {
        const uint64_t count = 1 + random() % 5, length = 1 + random() % 20;
        const Region region = bytes(random() % (kBytes - 100 - length), length, {{count, length + random() % 5}});
        if (region.bounds().end > kBytes) continue;
        const size_t file = random() % files.size();
        const bool writes = random() % 2 == 0;
        const auto held =
            locker_->lock(t % kClients, "file " + std::to_string(file), region, writes ? kExclusive : kShared, never());
        ASSERT_TRUE(held);
        const Region pieces = expanded(region, kBytes).value();
        const auto each_byte = [&](const auto& use) {
          for (const Term& term : pieces.terms())
            for (uint64_t at = term.start; at < term.start + term.length; ++at) use(at);
        };
        Use& use = files[file];
        each_byte([&](uint64_t at) { ++(writes ? use.writers : use.readers)[at]; });
        std::this_thread::yield();
        each_byte([&](uint64_t at) {
          EXPECT_EQ(use.writers[at], writes ? 1 : 0);
          EXPECT_TRUE(!writes || use.readers[at] == 0);
        });
        each_byte([&](uint64_t at) { --(writes ? use.writers : use.readers)[at]; });
      }
    });
}

std::unique_ptr<Locker> model() { return std::make_unique<Model>(); }
std::unique_ptr<Locker> over_unix() { return std::make_unique<Served>(std::vector{unix_address()}); }
std::unique_ptr<Locker> over_tcp() { return std::make_unique<Served>(std::vector{tcp_address()}); }
std::unique_ptr<Locker> over_two() { return std::make_unique<Served>(std::vector{unix_address(), tcp_address()}); }

INSTANTIATE_TEST_SUITE_P(Ways, Contract,
                         testing::Values(Way{"Model", model}, Way{"Unix", over_unix}, Way{"Tcp", over_tcp},
                                         Way{"TwoServers", over_two}),
                         [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace forebay::lock
