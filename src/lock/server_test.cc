// A server among strangers and bad clients, and clients whose server fails.
#include "lock/server.h"

#include <algorithm>
#include <thread>

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/framing.h"
#include "fabric/socket.h"
#include "lock/back_off.h"
#include "lock/connection.h"
#include "lock/inspect.h"
#include "lock/test_server.h"
#include "lock/wire.h"

namespace forebay::lock {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;
using testing::HasSubstr;

// Collects what a server logs.
class Log {
 public:
  auto sink() {
    return [this](Severity, const std::string& text) {
      const std::lock_guard lock(mutex_);
      text_ += text + "\n";
    };
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

class ServerTest : public testing::TestWithParam<bool> {
 protected:
  ServerTest() {
    options_ = server_options(GetParam() ? tcp_address() : unix_address());
    options_.log = log_.sink();
  }

  void start() { server_ = Server::start(options_).value(); }

  Fd stranger() { return std::move(fabric::connect(server_->addresses(), Clock::now() + 5s).value().fd); }

  // Until the other side closes.
  static size_t read_all(int fd) {
    size_t all = 0;
    char buffer[4096];
    for (;;) {
      if (!fabric::wait_for(fd, POLLIN, Clock::now() + 20s).value()) ADD_FAILURE() << "not closed";
      const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
      if (got <= 0) return all;
      all += static_cast<size_t>(got);
    }
  }

  void expect_alive() {
    const auto lock = client_of(*server_)->lock("f", bytes(0, 1), Access::exclusive, Clock::now() + 10s);
    EXPECT_TRUE(lock) << lock.error().message();
  }

  Log log_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
};

TEST_P(ServerTest, RefusesAWrongSecret) {
  start();
  ClientOptions options = client_options(server_->addresses());
  options.credentials.secret = fabric::new_secret();
  const auto lock = Client::create(options).value()->lock("f", bytes(0, 1), Access::shared);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::permission);
  EXPECT_THAT(log_.text(), HasSubstr("another secret"));
  expect_alive();
}

TEST_P(ServerTest, RefusesWhoHasNoSecret) {
  start();
  ClientOptions options = client_options(server_->addresses());
  options.credentials.secret.reset();
  EXPECT_EQ(Client::create(options).value()->lock("f", bytes(0, 1), Access::shared).error().kind,
            ErrorKind::permission);
}

TEST_P(ServerTest, DropsGarbage) {
  start();
  const Fd fd = stranger();
  const std::string garbage(100'000, '\xa5');
  (void)!::send(fd.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  EXPECT_LT(read_all(fd.get()), 300u);
  expect_alive();
}

TEST_P(ServerTest, DropsTheSilentInTime) {
  options_.handshake_timeout = 1s;
  start();
  const auto before = Clock::now();
  const Fd fd = stranger();
  expect_alive();
  EXPECT_EQ(read_all(fd.get()), 0u);
  EXPECT_GE(Clock::now() - before, 990ms);
  EXPECT_LT(Clock::now() - before, 8s);
  EXPECT_THAT(log_.text(), HasSubstr("in time"));
}

TEST_P(ServerTest, DropsWhoAsksAndDoesNotRead) {
  options_.max_client_memory = 1ull << 30;
  start();
  auto connection = Connection::open(server_->addresses(), options_.credentials, "holder", Clock::now() + 5s).value();
  for (int i = 0; i < 3000; ++i) {
    const std::string name = std::to_string(i) + std::string(4000, 'x');
    ASSERT_TRUE(connection->lock(name, bytes(0, 1), Access::shared, false, Clock::now() + 5s));
  }
  // Each answer has 12 MB of names.
  auto other = Connection::open(server_->addresses(), options_.credentials, "deaf", Clock::now() + 5s).value();
  for (int i = 0; i < 10; ++i) (void)other->query(Clock::now());
  for (int i = 0; i < 200 && log_.text().empty(); ++i) std::this_thread::sleep_for(50ms);
  EXPECT_THAT(log_.text(), HasSubstr("does not read"));
  expect_alive();
}

TEST_P(ServerTest, RefusesListsAndClientsThatAreTooLarge) {
  options_.max_terms = 100;
  options_.max_client_memory = 20'000;
  start();
  const auto client = client_of(*server_);
  Region list;
  for (uint64_t i = 0; i < 101; ++i) ASSERT_TRUE(list.add(i * 100 + i * i, 10));
  EXPECT_EQ(client->lock("f", list, Access::shared).error().kind, ErrorKind::limit);
  std::vector<Lock> held;
  Result<Lock> lock = fail(ErrorKind::internal, "");
  for (uint64_t i = 0; i < 1000; ++i) {
    lock = client->lock("f", bytes(i * 10, 1), Access::shared);
    if (!lock) break;
    held.push_back(std::move(*lock));
  }
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::limit);
  held.clear();
  EXPECT_TRUE(client->lock("f", bytes(0, 1), Access::shared));
}

TEST_P(ServerTest, BoundsItsConnections) {
  options_.max_connections = 2;
  start();
  const auto first = client_of(*server_), second = client_of(*server_), third = client_of(*server_);
  const auto one = first->lock("f", bytes(0, 1), Access::shared);
  auto two = second->lock("f", bytes(0, 1), Access::shared);
  ASSERT_TRUE(one && two);
  EXPECT_EQ(third->lock("f", bytes(0, 1), Access::shared).error().kind, ErrorKind::disconnected);
}

TEST_P(ServerTest, UsesMoreFilesThanThereAreNumbers) {
  start();
  const auto client = client_of(*server_);
  auto first = client->lock("file 0", bytes(0, 1), Access::exclusive).value();
  for (uint32_t i = 1; i < 2 * wire::kMaxFiles + 10; ++i)
    ASSERT_TRUE(client->lock("file " + std::to_string(i), bytes(0, 1), Access::exclusive));
  EXPECT_FALSE(client->try_lock("file 0", bytes(0, 1), Access::shared).value());
  EXPECT_TRUE(first.unlock());
  EXPECT_TRUE(client->try_lock("file 0", bytes(0, 1), Access::shared).value());
}

TEST_P(ServerTest, EndsWithAClearErrorForWhoWaits) {
  options_.lease_clock = MovedClock::now;
  start();
  auto held = moved_client_of(*server_)->lock("f", bytes(0, 1), Access::exclusive);
  const auto waiter = moved_client_of(*server_);
  auto inspector = Inspector::connect({server_->addresses()}, options_.credentials).value();
  std::jthread ender([&] {
    while (inspector.ask().value().requests.size() < 2) std::this_thread::yield();
    server_.reset();
  });
  const auto lock = waiter->lock("f", bytes(0, 1), Access::exclusive);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::disconnected);
  ender.join();
  MovedClock::advance(options_.lease * 2 / 3);  // so that it asks the server
  EXPECT_EQ(held->keep(10ms).error().kind, ErrorKind::disconnected);
}

TEST_P(ServerTest, IsFoundAgainAfterItWasStartedAnew) {
  start();
  const auto client = client_of(*server_);
  ASSERT_TRUE(client->lock("f", bytes(0, 1), Access::exclusive));
  ASSERT_TRUE(client->fetch_add("c", 1));
  options_.listen = server_->addresses();
  server_.reset();
  start();
  EXPECT_TRUE(client->lock("f", bytes(0, 1), Access::exclusive));
  EXPECT_EQ(client->fetch_add("c", 1).value(), 0);
}

TEST_P(ServerTest, CountsForAllClients) {
  start();
  const auto a = client_of(*server_), b = client_of(*server_);
  EXPECT_EQ(a->fetch_add("c", 5).value(), 0);
  EXPECT_EQ(b->fetch_add("c", -1).value(), 5);
  EXPECT_EQ(a->fetch_add("c", 0).value(), 4);
  ASSERT_TRUE(a->forget_counter("c"));
  EXPECT_EQ(a->fetch_add("c", 0).value(), 0);
  EXPECT_EQ(a->fetch_add("", 0).error().kind, ErrorKind::invalid_argument);
}

TEST_P(ServerTest, KeepsALockBeyondItsLease) {
  options_.lease = 15s;
  options_.grace = 10s;
  options_.lease_clock = MovedClock::now;
  start();
  auto lock = moved_client_of(*server_)->lock("f", bytes(0, 1), Access::exclusive).value();
  for (int i = 0; i < 9; ++i) {
    MovedClock::advance(3s);
    ASSERT_TRUE(lock.keep(1h));
    EXPECT_GT(lock.valid_until(), MovedClock::now());
  }
  EXPECT_FALSE(client_of(*server_)->try_lock("f", bytes(0, 1), Access::exclusive).value());
  EXPECT_TRUE(lock.unlock());
}

TEST_P(ServerTest, RenewsWhileAThreadWaits) {
  options_.lease = 1500ms;
  options_.grace = 1s;
  start();
  auto blocker = client_of(*server_)->lock("f", bytes(0, 1), Access::exclusive).value();
  std::jthread keeper([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_TRUE(blocker.keep(100ms));
      std::this_thread::sleep_for(20ms);
    }
  });
  const auto client = client_of(*server_);
  auto held = client->lock("g", bytes(0, 1), Access::exclusive).value();
  EXPECT_EQ(client->lock("f", bytes(0, 1), Access::exclusive, Clock::now() + 3s).error().kind, ErrorKind::timeout);
  EXPECT_GT(held.valid_until(), Clock::now());
  EXPECT_TRUE(held.unlock());
}

TEST_P(ServerTest, TellsWhoseLeaseEnded) {
  options_.lease_clock = MovedClock::now;
  start();
  const auto sleeper = moved_client_of(*server_);
  auto lost = sleeper->lock("f", bytes(0, 1), Access::exclusive).value();
  auto other = sleeper->lock("g", bytes(0, 1), Access::exclusive).value();
  MovedClock::advance(options_.lease + options_.grace + 1s);
  // The server looks at leases when it has heard somebody.
  EXPECT_TRUE(moved_client_of(*server_)->lock("f", bytes(0, 1), Access::exclusive, Clock::now() + 20s));
  EXPECT_LT(lost.valid_until(), MovedClock::now());
  EXPECT_EQ(lost.keep(10ms).error().kind, ErrorKind::disconnected);
  EXPECT_EQ(other.unlock().error().kind, ErrorKind::disconnected);
  EXPECT_TRUE(sleeper->lock("f", bytes(0, 1), Access::exclusive)) << "comes back with a new session";
}

INSTANTIATE_TEST_SUITE_P(Transports, ServerTest, testing::Bool(),
                         [](const auto& way) { return way.param ? "Tcp" : "Unix"; });

TEST(ServerStart, NeedsAProofForTcp) {
  ServerOptions options = server_options(tcp_address());
  options.credentials = {};
  EXPECT_EQ(Server::start(options).error().kind, ErrorKind::permission);
  options.listen = {unix_address()};
  const auto server = Server::start(options).value();
  ClientOptions client = client_options(server->addresses());
  client.credentials = {};
  EXPECT_TRUE(Client::create(client).value()->lock("f", bytes(0, 1), Access::shared)) << "the same user";
  client = client_options(server->addresses());
  EXPECT_EQ(Client::create(client).value()->lock("f", bytes(0, 1), Access::shared).error().kind, ErrorKind::permission)
      << "who has a secret asks for it";
}

TEST(ServerStart, RefusesWhatMakesNoSense) {
  ServerOptions options = server_options(unix_address());
  options.lease = 0ms;
  EXPECT_EQ(Server::start(options).error().kind, ErrorKind::invalid_argument);
  options = server_options(unix_address());
  options.listen.clear();
  EXPECT_EQ(Server::start(options).error().kind, ErrorKind::invalid_argument);
  options = server_options(unix_address());
  const auto first = Server::start(options).value();
  EXPECT_EQ(Server::start(options).error().kind, ErrorKind::exists);
}

TEST(ServerStart, TellsAddressesThatCanBeReached) {
  const auto server = Server::start(server_options({fabric::Address::Kind::tcp, "*", 0, {}})).value();
  ASSERT_FALSE(server->addresses().empty());
  for (const fabric::Address& address : server->addresses()) {
    EXPECT_NE(address.host, "*");
    EXPECT_NE(address.port, 0);
    if (address.host.find(':') != std::string::npos) continue;
    EXPECT_TRUE(Client::create(client_options({address})).value()->lock("f", bytes(0, 1), Access::shared));
  }
}

TEST(ClientOptions, AreChecked) {
  EXPECT_EQ(Client::create({}).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(Client::create(client_options({})).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(parse_servers("unix:@a,tcp:h:1;tcp:i:2").value().size(), 2u);
  EXPECT_FALSE(parse_servers("unix:@a;"));
  EXPECT_FALSE(parse_servers(""));
}

TEST(ClientThreads, DoNotWaitForAnotherOnesConnectionBeyondTheirDeadline) {
  auto mute = fabric::listen(unix_address()).value();
  const auto client = Client::create(client_options({mute.front().address})).value();
  std::jthread first([&] { EXPECT_FALSE(client->lock("f", bytes(0, 1), Access::shared, Clock::now() + 8s)); });
  while (!fabric::wait_for(mute.front().fd.get(), POLLIN, Clock::now() + 20s).value()) {
  }
  const auto before = Clock::now();
  const auto lock = client->lock("f", bytes(0, 1), Access::shared, before + 100ms);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::timeout);
  EXPECT_LT(Clock::now() - before, 6s);
  mute.clear();  // which ends the first one's attempt
}

// The first call finds out, the next ones need not.
TEST(BackingOff, CostsNoTimeAtEachCall) {
  const auto mute = fabric::listen(unix_address()).value();
  ClientOptions options = client_options({mute.front().address});
  options.connect_timeout = 2s;
  const auto client = Client::create(options).value();
  const auto before = Clock::now();
  for (int i = 0; i < 20; ++i) {
    const auto lock = client->lock("a file", bytes(0, 1), Access::shared);
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().kind, ErrorKind::disconnected);
    EXPECT_EQ(lock.error().path, "a file");
    EXPECT_THAT(lock.error().what, HasSubstr(fabric::to_string(mute.front().address)));
  }
  EXPECT_FALSE(client->fetch_add("a file", 1));
  EXPECT_GE(Clock::now() - before, 2s);
  EXPECT_LT(Clock::now() - before, 3900ms);
}

TEST(BackingOff, TriesAgainLessAndLessOften) {
  const auto begin = Clock::now();
  BackOff back_off;
  EXPECT_TRUE(back_off.may_try(begin));
  back_off.failed(begin, 10s);
  EXPECT_FALSE(back_off.may_try(begin + 9s));
  EXPECT_TRUE(back_off.may_try(begin + 10s));
  back_off.failed(begin, 10s);
  EXPECT_FALSE(back_off.may_try(begin + 19s));
  for (int i = 0; i < 10; ++i) back_off.failed(begin, 10s);
  EXPECT_FALSE(back_off.may_try(begin + 59s));
  EXPECT_TRUE(back_off.may_try(begin + 60s));
  back_off.succeeded();
  EXPECT_TRUE(back_off.may_try(begin));
}

TEST(ClientThreads, ShareAConnection) {
  const auto server = Server::start(server_options(unix_address())).value();
  const auto client = client_of(*server);
  int counter = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto deadline = t % 2 == 0 ? Clock::time_point::max() : Clock::now() + 1ms;
        auto lock = client->lock("f", bytes(0, 10), Access::exclusive, deadline);
        if (!lock) {
          EXPECT_EQ(lock.error().kind, ErrorKind::timeout) << lock.error().message();
          continue;
        }
        ++counter;
        EXPECT_TRUE(lock->unlock());
      }
    });
  threads.clear();
  EXPECT_GE(counter, 800);
  EXPECT_TRUE(client->try_lock("f", bytes(0, 10), Access::exclusive).value()) << "a grant that crossed is given back";
}

}  // namespace
}  // namespace forebay::lock
