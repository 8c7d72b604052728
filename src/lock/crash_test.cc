// Real processes that are killed, stopped and forked, and a network that is cut.
#include <algorithm>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/socket.h"
#include "lock/inspect.h"
#include "lock/test_server.h"

namespace forebay::lock {
namespace {

using namespace std::chrono_literals;
using namespace testing_support;

// Short for those who lose their locks, long for those who keep them: the machine may be slow.
constexpr auto kLease = 600ms, kGrace = 300ms, kLongLease = 10'000ms;

// A process of its own, with a line to it and one back.
class Process {
 public:
  explicit Process(const std::function<void(Process&)>& body) {
    int there[2], back[2];
    if (::pipe2(there, O_CLOEXEC) != 0 || ::pipe2(back, O_CLOEXEC) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      in_ = Fd(there[0]);
      out_ = Fd(back[1]);
      ::close(there[1]);
      ::close(back[0]);
      body(*this);
      ::_exit(0);
    }
    in_ = Fd(back[0]);
    out_ = Fd(there[1]);
    ::close(there[0]);
    ::close(back[1]);
  }

  ~Process() { end(SIGKILL); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void tell(char word) { (void)!::write(out_.get(), &word, 1); }

  // 0 if nothing comes.
  char hear(std::chrono::milliseconds wait = 20s) {
    char word = 0;
    if (fabric::wait_for(in_.get(), POLLIN, Clock::now() + wait).value_or(false)) (void)!::read(in_.get(), &word, 1);
    return word;
  }

  void signal(int number) {
    ::kill(pid_, number);
    if (number == SIGSTOP) ::waitpid(pid_, nullptr, WUNTRACED);  // until it has stopped
  }

  void end(int number) {
    if (pid_ <= 0) return;
    ::kill(pid_, number);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
  Fd in_, out_;
};

Region one_byte() { return bytes(0, 1); }

// Takes the byte, says 'h', and does what it is told: 'k' keep, 'u' unlock; says 'y' or 'n' then.
void hold(Process& parent, const std::vector<fabric::Address>& server) {
  const auto client = Client::create(client_options(server)).value();
  auto lock = client->lock("f", one_byte(), Access::exclusive);
  parent.tell(lock ? 'h' : 'x');
  for (;;) {
    const char word = parent.hear(1h);
    if (word == 0) return;
    const auto done = word == 'k' ? lock->keep(10ms) : lock->unlock();
    parent.tell(done ? 'y' : 'n');
  }
}

class Crash : public testing::TestWithParam<bool> {
 protected:
  // Processes are forked before there is a thread: the server's.
  Crash() : address_(GetParam() ? tcp_address() : unix_address()) {
    if (!GetParam()) return;
    address_.port = fabric::listen(address_).value().front().address.port;  // free a moment ago
  }

  void start(std::chrono::milliseconds lease = kLease, LeaseClock clock = kSteadyLeases) {
    ServerOptions options = server_options(address_);
    options.lease = lease;
    options.lease_clock = clock;
    options.grace = kGrace;
    server_ = Server::start(options).value();
  }

  // How long it takes until the byte can be had.
  std::chrono::milliseconds time_to_get() {
    const auto before = Clock::now();
    const auto lock = client_of(*server_)->lock("f", one_byte(), Access::exclusive, before + 20s);
    EXPECT_TRUE(lock) << lock.error().message();
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - before);
  }

  // A process that waits until it is told to begin holding.
  auto holder() {
    return std::make_unique<Process>([server = std::vector{address_}](Process& parent) {
      if (parent.hear(1h) != 0) hold(parent, server);
    });
  }

  fabric::Address address_;
  std::unique_ptr<Server> server_;
};

TEST_P(Crash, AKilledHolderLosesItsLocksAtOnce) {
  const auto process = holder();
  start(kLongLease);
  process->tell('b');
  ASSERT_EQ(process->hear(), 'h');
  EXPECT_FALSE(client_of(*server_)->try_lock("f", one_byte(), Access::shared).value());
  process->end(SIGKILL);
  EXPECT_LT(time_to_get(), kLongLease / 2);
}

// The grant waits to be read when the process is killed, so that its system resets a TCP connection.
TEST_P(Crash, AContenderThatIsKilledWithAGrantUnderWayHoldsUpNobody) {
  const auto process = holder(), contender = holder();
  start(kLongLease);
  process->tell('b');
  ASSERT_EQ(process->hear(), 'h');
  contender->tell('b');
  auto inspector = Inspector::connect({server_->addresses()}, client_options({}).credentials).value();
  const auto requests = [&](bool granted) {
    return std::ranges::count(inspector.ask().value().requests, granted, &wire::StatusRequest::granted);
  };
  while (requests(false) == 0) std::this_thread::sleep_for(5ms);
  contender->signal(SIGSTOP);
  process->end(SIGKILL);
  while (requests(false) != 0) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(requests(true), 1);
  contender->end(SIGKILL);
  EXPECT_LT(time_to_get(), kLongLease / 2);
}

TEST_P(Crash, AStoppedHolderKeepsItsLocksUntilLeaseAndGraceAreOver) {
  const auto process = holder();
  start();
  const auto before = Clock::now();
  process->tell('b');
  ASSERT_EQ(process->hear(), 'h');
  const auto held = Clock::now();
  process->signal(SIGSTOP);
  (void)time_to_get();
  EXPECT_GE(Clock::now() - before, kLease + kGrace);
  EXPECT_LT(Clock::now() - held, kLease + kGrace + 5s);
  process->signal(SIGCONT);
  process->tell('k');
  EXPECT_EQ(process->hear(), 'n');
  process->tell('u');
  EXPECT_EQ(process->hear(), 'n');
}

TEST_P(Crash, AHolderThatWasStoppedBrieflyGoesOn) {
  const auto process = holder();
  start(3s);
  process->tell('b');
  ASSERT_EQ(process->hear(), 'h');
  process->signal(SIGSTOP);
  std::this_thread::sleep_for(300ms);
  process->signal(SIGCONT);
  process->tell('k');
  EXPECT_EQ(process->hear(), 'y');
  process->tell('u');
  EXPECT_EQ(process->hear(), 'y');
}

TEST_P(Crash, AServerThatIsKilledIsAClearError) {
  Process server([this](Process& parent) {
    start();
    parent.tell('s');
    (void)parent.hear(1h);
  });
  ASSERT_EQ(server.hear(), 's');
  const auto holder = Client::create(client_options({address_})).value();
  const auto held = holder->lock("f", one_byte(), Access::exclusive).value();
  auto inspector = Inspector::connect({address_}, client_options({}).credentials).value();
  std::jthread killer([&] {
    while (inspector.ask().value().requests.size() < 2) std::this_thread::yield();
    server.signal(SIGKILL);
  });
  const auto waiter = Client::create(client_options({address_})).value();
  const auto lock = waiter->lock("f", one_byte(), Access::exclusive);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::disconnected);
}

TEST_P(Crash, AServerThatIsStoppedHangsNobody) {
  Process server([this](Process& parent) {
    start();
    parent.tell('s');
    (void)parent.hear(1h);
  });
  ASSERT_EQ(server.hear(), 's');
  const auto client = Client::create(client_options({address_})).value();
  auto held = client->lock("f", one_byte(), Access::exclusive).value();
  server.signal(SIGSTOP);
  const auto before = Clock::now();
  const auto lock = client->lock("g", one_byte(), Access::exclusive);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().kind, ErrorKind::disconnected);
  EXPECT_GE(Clock::now() - before, kLease - 50ms);
  EXPECT_LT(Clock::now() - before, kLease + 5s);
  EXPECT_FALSE(held.keep(10ms));
}

TEST_P(Crash, AServerThatWasStoppedDoesNotBlameItsClients) {
  constexpr auto kThisLease = 3000ms;
  Process server([&](Process& parent) {
    start(kThisLease);
    parent.tell('s');
    (void)parent.hear(1h);
  });
  ASSERT_EQ(server.hear(), 's');
  const auto client = Client::create(client_options({address_})).value();
  auto held = client->lock("f", one_byte(), Access::exclusive).value();
  server.signal(SIGSTOP);
  std::jthread waker([&] {
    std::this_thread::sleep_for(kThisLease + kGrace + 50ms);
    server.signal(SIGCONT);
  });
  std::this_thread::sleep_for(kThisLease * 8 / 15);
  EXPECT_TRUE(held.keep(10ms)) << "the renewal was under way when the lease ended";
}

// A renewal counts from before it was sent: when the answer is late, little of it is left.
TEST_P(Crash, ASlowServerDoesNotShortenWhatKeepPromises) {
  constexpr auto kThisLease = 2000ms;
  Process server([&](Process& parent) {
    start(kThisLease);
    parent.tell('s');
    (void)parent.hear(1h);
  });
  ASSERT_EQ(server.hear(), 's');
  const auto client = Client::create(client_options({address_})).value();
  auto held = client->lock("f", one_byte(), Access::exclusive).value();
  server.signal(SIGSTOP);
  std::this_thread::sleep_for(kThisLease * 11 / 20);
  std::jthread waker([&] {
    std::this_thread::sleep_for(kThisLease * 18 / 20);
    server.signal(SIGCONT);
  });
  // On a slow machine it fails, which is as good.
  if (held.keep(1h)) {
    EXPECT_GE(held.valid_until() - Clock::now(), kThisLease / 2);
  }
}

TEST_P(Crash, AForkedChildLeavesItsParentsLocksAlone) {
  start(kLongLease);
  const auto client = client_of(*server_);
  auto held = client->lock("f", one_byte(), Access::exclusive).value();
  Process child([&](Process& parent) {
    if (held.keep(10ms) || held.valid_until() > Clock::now()) return parent.tell('1');
    if (client->try_lock("f", one_byte(), Access::shared).value()) return parent.tell('2');
    if (!client->lock("g", one_byte(), Access::exclusive)) return parent.tell('3');
    if (held.unlock()) return parent.tell('4');
    parent.tell('y');
  });
  EXPECT_EQ(child.hear(), 'y');
  child.end(SIGKILL);
  EXPECT_FALSE(client_of(*server_)->try_lock("f", one_byte(), Access::shared).value());
  EXPECT_TRUE(held.keep(10ms));
  EXPECT_TRUE(held.unlock());
}

TEST_P(Crash, AForkedChildLeavesItsParentsServerAlone) {
  start(kLongLease, MovedClock::now);
  auto held = moved_client_of(*server_)->lock("f", one_byte(), Access::exclusive).value();
  Process child([&](Process& parent) {
    server_.reset();
    parent.tell('y');
  });
  EXPECT_EQ(child.hear(), 'y');
  MovedClock::advance(kLongLease * 2 / 3);  // so that it asks the server
  EXPECT_TRUE(held.keep(10ms));
}

INSTANTIATE_TEST_SUITE_P(Transports, Crash, testing::Bool(),
                         [](const auto& way) { return way.param ? "Tcp" : "Unix"; });

// Two network namespaces with a cable between them, which is then cut: neither side hears anything any more.
class CutNetwork : public testing::Test {
 protected:
  static bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

  CutNetwork() : name_("forebay-" + std::to_string(::getpid())) {}

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make network namespaces";
    const std::string in = "ip -n " + name_ + " ";
    if (!run("ip netns add " + name_) || !run("ip link add " + cable() + " type veth peer name eth0 netns " + name_) ||
        !run("ip addr add 198.18.77.1/30 dev " + cable()) || !run("ip link set " + cable() + " up") ||
        !run(in + "addr add 198.18.77.2/30 dev eth0") || !run(in + "link set eth0 up"))
      GTEST_SKIP() << "network namespaces are not permitted here";
  }

  void TearDown() override {
    run("ip link del " + cable());
    run("ip netns del " + name_);
  }

  std::string cable() const { return "fb" + std::to_string(::getpid()); }

  // Moves the calling process to the other side.
  bool cross() const {
    const Fd there(::open(("/run/netns/" + name_).c_str(), O_RDONLY | O_CLOEXEC));
    return there && ::setns(there.get(), CLONE_NEWNET) == 0;
  }

  std::string name_;
};

TEST_F(CutNetwork, GivesTheLocksToOthersAfterLeaseAndGraceOnly) {
  const fabric::Address address{fabric::Address::Kind::tcp, "198.18.77.1", 40707, {}};
  Process holder([&](Process& parent) {
    if (!cross()) return parent.tell('x');
    (void)parent.hear(1h);
    hold(parent, {address});
  });
  ServerOptions options = server_options(address);
  options.lease = kLease;
  options.grace = kGrace;
  const auto server = Server::start(options).value();
  const auto before = Clock::now();
  holder.tell('b');
  ASSERT_EQ(holder.hear(), 'h');
  ASSERT_TRUE(run("ip link set " + cable() + " down"));
  holder.tell('k');
  const auto local = Client::create(client_options({address})).value();
  const auto lock = local->lock("f", one_byte(), Access::exclusive, Clock::now() + 20s);
  ASSERT_TRUE(lock) << lock.error().message();
  EXPECT_GE(Clock::now() - before, kLease + kGrace);
  // Whatever the holder was told in the beginning, by now it knows better, cut off as it is.
  (void)holder.hear();
  holder.tell('k');
  EXPECT_EQ(holder.hear(), 'n');
}

}  // namespace
}  // namespace forebay::lock
