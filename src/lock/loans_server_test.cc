// Clients that borrow, and their threads that answer recalls, against servers.
#include <thread>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "fabric/hub.h"
#include "lock/inspect.h"
#include "lock/test_server.h"
#include "lock/wire.h"

namespace forebay::lock {
namespace {

using namespace std::chrono_literals;

constexpr auto kNever = Clock::time_point::max();

class Borrowing : public testing::TestWithParam<bool> {
 protected:
  Borrowing() {
    ServerOptions options =
        testing_support::server_options(GetParam() ? testing_support::tcp_address() : testing_support::unix_address());
    options.lease_clock = testing_support::MovedClock::now;
    server_ = Server::start(options).value();
    addresses_ = server_->addresses();
  }

  std::shared_ptr<Client> borrower() {
    ClientOptions options = testing_support::client_options(addresses_);
    options.borrow = true;
    options.lease_clock = testing_support::MovedClock::now;
    return Client::create(options).value();
  }

  size_t requests() {
    return Inspector::connect(addresses_, testing_support::server_options({}).credentials)
        .value()
        .ask()
        .value()
        .requests.size();
  }

  // What the whole file, lent, looks like to those who ask.
  bool is_lent() {
    const auto overview =
        Inspector::connect(addresses_, testing_support::server_options({}).credentials).value().ask().value();
    return overview.requests.size() == 1 && overview.requests[0].bounds == Region::whole_file().bounds();
  }

  std::vector<fabric::Address> addresses_;
  std::unique_ptr<Server> server_;
};

TEST_P(Borrowing, WorksOnWithoutTheServer) {
  const auto client = borrower();
  EXPECT_TRUE(client->lock("f", testing_support::bytes(0, 10), Access::exclusive).value().unlock());
  EXPECT_TRUE(is_lent());
  for (uint64_t i = 0; i < 1000; ++i) {
    Lock lock = client->lock("f", testing_support::bytes(i * 10, 10), Access::exclusive).value();
    EXPECT_TRUE(lock.keep(1s));
    EXPECT_TRUE(lock.unlock());
  }
  EXPECT_TRUE(is_lent());
  server_.reset();
  // Nobody has had the bytes, and the lease is not over.
  const auto lock = client->lock("f", testing_support::bytes(0, 10), Access::exclusive, Clock::now() + 1s);
  EXPECT_TRUE(lock || lock.error().kind == ErrorKind::disconnected);
}

TEST_P(Borrowing, ReturnsToOthersWhatItDoesNotUseWithoutACall) {
  const auto one = borrower(), other = borrower();
  const Lock used = one->lock("f", testing_support::bytes(0, 10), Access::exclusive).value();
  Lock lock = other->lock("f", testing_support::bytes(10, 10), Access::exclusive, Clock::now() + 20s).value();
  EXPECT_TRUE(lock.unlock());
  EXPECT_FALSE(other->try_lock("f", testing_support::bytes(5, 1), Access::shared).value());
  EXPECT_EQ(requests(), 1u);
}

TEST_P(Borrowing, DecidesTriesByWhatIsUsed) {
  const auto one = borrower(), other = borrower();
  const Lock used = one->lock("f", testing_support::bytes(0, 10), Access::exclusive).value();
  EXPECT_FALSE(other->try_lock("f", testing_support::bytes(5, 1), Access::exclusive).value());
  EXPECT_TRUE(other->try_lock("f", testing_support::bytes(10, 1), Access::exclusive).value());
  EXPECT_FALSE(one->try_lock("f", testing_support::bytes(0, 1), Access::shared).value()) << "of the same client, too";
}

TEST_P(Borrowing, ServesItsThreadsInOrderAcrossARecall) {
  const auto one = borrower(), other = borrower();
  Lock first = one->lock("f", testing_support::bytes(0, 10), Access::exclusive).value();
  std::atomic<int> order{0};
  int of_thread = 0, of_other = 0;
  std::thread waiting([&] {
    const auto lock = one->lock("f", testing_support::bytes(5, 10), Access::exclusive, Clock::now() + 20s);
    EXPECT_TRUE(lock);
    of_thread = ++order;
  });
  // Until it waits: a try of the bytes that only it wants does not succeed any more.
  while (one->try_lock("f", testing_support::bytes(12, 1), Access::exclusive).value()) std::this_thread::yield();
  std::thread later([&] {
    const auto lock = other->lock("f", testing_support::bytes(0, 20), Access::exclusive, Clock::now() + 20s);
    EXPECT_TRUE(lock);
    of_other = ++order;
  });
  while (requests() < 3) std::this_thread::yield();  // the loan was returned
  EXPECT_TRUE(first.unlock());
  waiting.join();
  later.join();
  EXPECT_EQ(of_thread, 1);
  EXPECT_EQ(of_other, 2);
}

TEST_P(Borrowing, GivesUpAtTheDeadlineWhatWaitsForAnotherThread) {
  const auto client = borrower();
  Lock held = client->lock("f", testing_support::bytes(0, 10), Access::exclusive).value();
  const auto lock = client->lock("f", testing_support::bytes(5, 10), Access::exclusive, Clock::now() + 10ms);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::timeout);
  EXPECT_TRUE(held.unlock());
  EXPECT_TRUE(client->try_lock("f", testing_support::bytes(0, 100), Access::exclusive).value()) << "it waits no more";
}

TEST_P(Borrowing, LosesWhatTheServerTookAfterTheLease) {
  const auto one = borrower(), other = borrower();
  Lock held = one->lock("f", testing_support::bytes(0, 10), Access::exclusive).value();
  EXPECT_EQ(one->fetch_add("counter", 3).value(), 0);
  const auto kept = one->lock("g", testing_support::bytes(0, 10), Access::exclusive).value();
  testing_support::MovedClock::advance(13s);
  EXPECT_LE(held.valid_until(), testing_support::MovedClock::now());
  // Whether its thread renews first or another asks: nobody has both.
  Lock lock = other->lock("f", testing_support::bytes(0, 10), Access::exclusive, Clock::now() + 20s).value_or(Lock());
  EXPECT_TRUE(lock.held());
  const auto still = held.keep(1s);
  EXPECT_FALSE(still && lock.keep(1s) && held.valid_until() > testing_support::MovedClock::now() &&
               lock.valid_until() > testing_support::MovedClock::now());
  EXPECT_EQ(one->fetch_add("counter", 1).value(), 3);
}

TEST_P(Borrowing, LeavesLoansToTheProcessThatForked) {
  const auto client = borrower();
  Lock held = client->lock("f", testing_support::bytes(0, 10), Access::exclusive).value();
  const pid_t child = ::fork();
  if (child == 0) {
    bool right = !held.keep(1s) && !client->try_lock("f", testing_support::bytes(5, 1), Access::shared).value();
    right =
        right && client->lock("f", testing_support::bytes(10, 10), Access::exclusive, Clock::now() + 20s).has_value();
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(held.unlock());
}

TEST_P(Borrowing, ExcludesManyThreadsOfManyClients) {
  std::vector<std::shared_ptr<Client>> clients{borrower(), borrower(), borrower()};
  int done[3] = {};  // under the lock of the first bytes of each file
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 300; ++round) {
        // Alone for a while, so that the file is lent again.
        const uint64_t first = round % 100 < 70 ? 100 + static_cast<uint64_t>(i) : 0;
        Lock lock =
            clients[static_cast<size_t>(i % 3)]
                ->lock("f" + std::to_string(round / 100), testing_support::bytes(first, 10), Access::exclusive, kNever)
                .value();
        if (first == 0) ++done[round / 100];
        EXPECT_TRUE(lock.unlock());
      }
    });
  for (std::thread& one : threads) one.join();
  for (const int one : done) EXPECT_EQ(one, 6 * 30);
}

// A server that answers every lock and renewal with one loan.
class Generous : public fabric::HubHandler {
 public:
  explicit Generous(uint64_t count) : count_(count) {
    fabric::HubOptions options;
    options.listen = {testing_support::unix_address()};
    options.credentials = testing_support::server_options({}).credentials;
    options.purpose = wire::kPurpose;
    hub_ = fabric::Hub::create(options).value();
    thread_ = std::thread([this] { EXPECT_TRUE(hub_->run(*this)); });
  }
  ~Generous() override {
    hub_->stop();
    thread_.join();
  }
  std::vector<fabric::Address> addresses() const { return hub_->addresses(); }

  void connected(fabric::ConnectionId, const std::string&) override {}
  void disconnected(fabric::ConnectionId, Ending) override {}
  void tick(Time) override {}
  Time next_tick() const override { return Time::max(); }
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) override {
    FOREBAY_TRY(const auto decoded, wire::decode_client(frame, 1000));
    if (std::holds_alternative<wire::Hello>(decoded.message)) say(id, wire::Welcome{id, 10'000, 1000, 1000, true});
    if (const auto* bell = std::get_if<wire::Bell>(&decoded.message)) say(id, wire::Renewed{bell->session});
    if (const auto* lock = std::get_if<wire::LockRequest>(&decoded.message)) say(id, wire::Lent{lock->request, count_});
    if (const auto* count = std::get_if<wire::Counter>(&decoded.message)) say(id, wire::Lent{count->request, count_});
    return {};
  }

 private:
  void say(fabric::ConnectionId id, const wire::ServerMessage& message) {
    Bytes frame;
    wire::encode(frame, message);
    hub_->send(id, frame);
  }

  uint64_t count_;
  std::unique_ptr<fabric::Hub> hub_;
  std::thread thread_;
};

ErrorKind answer_of(const Generous& server, bool of_a_lock) {
  ClientOptions options = testing_support::client_options(server.addresses());
  options.borrow = true;
  const auto client = Client::create(options).value();
  if (!of_a_lock) {
    const auto before = client->fetch_add("c", 1);
    return before ? ErrorKind::internal : before.error().kind;
  }
  const auto lock = client->lock("f", testing_support::bytes(0, 10), Access::exclusive, Clock::now() + 20s);
  return lock ? ErrorKind::internal : lock.error().kind;
}

TEST(BorrowingOfAWrongServer, EndsWhereMoreIsLentThanWasAskedFor) {
  const Generous with_files(0), with_elements(9);
  EXPECT_EQ(answer_of(with_files, true), ErrorKind::internal) << "which was welcome";
  EXPECT_EQ(answer_of(with_files, false), ErrorKind::corrupt) << "with a counter";
  EXPECT_EQ(answer_of(with_elements, true), ErrorKind::corrupt) << "none was asked ahead";
}

INSTANTIATE_TEST_SUITE_P(Transports, Borrowing, testing::Bool(),
                         [](const auto& one) { return std::string(one.param ? "Tcp" : "Unix"); });

}  // namespace
}  // namespace forebay::lock
