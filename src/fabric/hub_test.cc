// Hubs among strangers, slow readers and peers that die.
#include "fabric/hub.h"

#include <future>

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "fabric/socket.h"
#include "fabric/test_hub.h"

namespace forebay::fabric {
namespace {

using namespace testing_support;
using testing::HasSubstr;

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

class HubTest : public testing::TestWithParam<Way> {
 protected:
  HubTest() {
    options_ = hub_options(GetParam());
    options_.log = log_.sink();
  }
  void start(TestHandler::Received received = echo) { server_.emplace(options_, std::move(received)); }
  Link link() { return open_link(server_->addresses(), 10s, GetParam()).value(); }
  Fd stranger() { return std::move(connect(server_->addresses(), std::chrono::steady_clock::now() + 5s).value().fd); }

  // Until the other side closes.
  static size_t read_all(int fd) {
    size_t all = 0;
    char buffer[4096];
    for (;;) {
      if (!wait_for(fd, POLLIN, std::chrono::steady_clock::now() + 20s).value()) ADD_FAILURE() << "not closed";
      const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
      if (got <= 0) return all;
      all += static_cast<size_t>(got);
    }
  }

  void expect_alive() {
    Link one = link();
    ASSERT_TRUE(one.send(frame_of(40, as_bytes("still there?")), 5s));
    const auto answer = one.receive(100, 5s);
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(as_text(answer->body), "still there?");
  }

  Log log_;
  HubOptions options_;
  std::optional<HubThread> server_;
};

TEST_P(HubTest, PassesFramesOn) {
  start();
  Link one = link(), other = link();
  ASSERT_TRUE(one.send(frame_of(40, {}), 5s));
  ASSERT_TRUE(one.send(frame_of(41, as_bytes("second")), 5s));
  ASSERT_TRUE(other.send(frame_of(42, as_bytes("third")), 5s));
  EXPECT_EQ(one.receive(100, 5s)->type, 40);
  const auto second = one.receive(100, 5s);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->type, 41);
  EXPECT_EQ(as_text(second->body), "second");
  EXPECT_EQ(other.receive(100, 5s)->type, 42);
  EXPECT_EQ(server_->handler.connections, 2);
}

TEST_P(HubTest, PassesLargeFramesOn) {
  options_.max_body = 20u << 20;
  start();
  Link one = link();
  const Bytes large = random_bytes(20u << 20);
  const Bytes frame = frame_of(77, large);
  std::jthread sender([&] { EXPECT_TRUE(one.send(frame, 10s)); });
  const auto back = one.receive(large.size(), 10s);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_TRUE(std::ranges::equal(back->body, large));
}

// The system tells of a reset once: whoever sends learns it, and then the end of the stream looks clean.
TEST_P(HubTest, KnowsAResetThatWasFoundBySending) {
  if (GetParam() == Way::unix_socket) GTEST_SKIP() << "a Unix socket knows no resets";
  start();
  Link one = link();
  ASSERT_TRUE(one.send(frame_of(40, {}), 5s));
  ASSERT_TRUE(one.receive(100, 5s));
  std::promise<void> waits, reset;
  server_->hub().post([&] {
    waits.set_value();
    reset.get_future().wait();
    server_->hub().send(server_->handler.last, frame_of(41, {}));
  });
  waits.get_future().wait();
  {
    const Fd fd = std::move(one.release().fd);
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ASSERT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
  }
  reset.set_value();
  EXPECT_TRUE(eventually([&] { return server_->handler.broken + server_->handler.orderly == 1; }));
  EXPECT_EQ(server_->handler.orderly, 0);
}

TEST_P(HubTest, EndsConnectionsWithTooLongFrames) {
  start();
  Link one = link();
  Bytes frame = frame_of(40, {});
  store_le(frame.data(), static_cast<uint32_t>(options_.max_body + 1));
  ASSERT_TRUE(one.send(frame, 5s));
  EXPECT_EQ(one.receive(100, 5s).error().kind, ErrorKind::disconnected);
  EXPECT_TRUE(eventually([&] { return server_->handler.broken == 1; }));
  EXPECT_THAT(log_.text(), HasSubstr("are the most"));
}

TEST_P(HubTest, RefusesAWrongSecret) {
  start();
  Credentials credentials = options_.credentials;
  credentials.secret = new_secret();
  const auto refused = Link::open(server_->addresses(), credentials, kPurpose, 5s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permission);
  EXPECT_THAT(log_.text(), HasSubstr("another secret"));
  EXPECT_EQ(server_->handler.connections, 0);
  expect_alive();
}

TEST_P(HubTest, RefusesAnotherPurpose) {
  start();
  EXPECT_FALSE(Link::open(server_->addresses(), options_.credentials, "something else", 5s));
  EXPECT_EQ(server_->handler.connections, 0);
}

TEST_P(HubTest, DropsGarbage) {
  start();
  const Fd fd = stranger();
  const std::string garbage(100'000, '\xa5');
  (void)!::send(fd.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  EXPECT_LT(read_all(fd.get()), 300u);
  expect_alive();
}

TEST_P(HubTest, DropsTheSilentInTime) {
  options_.handshake_timeout = 300ms;
  start();
  const auto before = std::chrono::steady_clock::now();
  const Fd fd = stranger();
  EXPECT_EQ(read_all(fd.get()), 0u);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 290ms);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 8s);
  EXPECT_THAT(log_.text(), HasSubstr("in time"));
  expect_alive();
}

TEST_P(HubTest, LogsLittleHoweverManyStrangersCome) {
  start();
  for (int i = 0; i < 100; ++i) {
    const Fd fd = stranger();
    (void)!::send(fd.get(), "0123456789", 10, MSG_NOSIGNAL);
    (void)read_all(fd.get());
  }
  const std::string text = log_.text();
  EXPECT_LE(std::ranges::count(text, '\n'), 60);  // the test may take some seconds
}

TEST_P(HubTest, LetsInWhoComesAfterManyStrangers) {
  options_.handshake_timeout = 500ms;
  start();
  std::vector<Fd> strangers;
  for (int i = 0; i < 300; ++i) strangers.push_back(stranger());
  expect_alive();
}

TEST_P(HubTest, WaitsForSlowReaders) {
  const Bytes body = random_bytes(1u << 20);
  start([body](Hub& hub, ConnectionId id, const Frame&) -> Result<void> {
    for (uint8_t i = 0; i < 32; ++i) hub.send(id, frame_of(50 + i, body));
    return {};
  });
  Link one = link();
  ASSERT_TRUE(one.send(frame_of(40, {}), 5s));
  std::this_thread::sleep_for(200ms);
  for (uint8_t i = 0; i < 32; ++i) {
    const auto got = one.receive(1u << 20, 5s);
    ASSERT_TRUE(got) << got.error().message();
    EXPECT_EQ(got->type, 50 + i);
    EXPECT_TRUE(std::ranges::equal(got->body, body));
  }
}

TEST_P(HubTest, DropsWhoDoesNotRead) {
  options_.max_output = 4u << 20;
  start([](Hub& hub, ConnectionId id, const Frame&) -> Result<void> {
    hub.send(id, frame_of(50, Bytes(1u << 20)));
    return {};
  });
  Link one = link();
  for (int i = 0; i < 40 && one.send(frame_of(40, {}), 5s); ++i) {
  }
  EXPECT_TRUE(eventually([&] { return server_->handler.broken == 1; }));
  EXPECT_THAT(log_.text(), HasSubstr("does not read"));
}

TEST_P(HubTest, ClosesWithWhatWasSentBefore) {
  start([](Hub& hub, ConnectionId id, const Frame&) -> Result<void> {
    hub.send(id, frame_of(50, as_bytes("go away")));
    hub.close(id);
    hub.close(id);
    return {};
  });
  Link one = link();
  ASSERT_TRUE(one.send(frame_of(40, {}), 5s));
  const auto last = one.receive(100, 5s);
  ASSERT_TRUE(last) << last.error().message();
  EXPECT_EQ(as_text(last->body), "go away");
  EXPECT_EQ(one.receive(100, 5s).error().kind, ErrorKind::disconnected);
  EXPECT_TRUE(eventually([&] { return server_->handler.orderly == 1; }));
  EXPECT_EQ(server_->handler.broken, 0);
}

TEST_P(HubTest, NoticesPeersThatGo) {
  start();
  {
    const Link one = link();
  }
  EXPECT_TRUE(eventually([&] { return server_->handler.orderly == 1; }));
}

TEST_P(HubTest, EndsConnectionsThatTheHandlerRefuses) {
  start([](Hub&, ConnectionId, const Frame&) -> Result<void> { return fail(ErrorKind::corrupt, "nonsense"); });
  Link one = link();
  ASSERT_TRUE(one.send(frame_of(40, {}), 5s));
  EXPECT_EQ(one.receive(100, 5s).error().kind, ErrorKind::disconnected);
  EXPECT_TRUE(eventually([&] { return server_->handler.broken == 1; }));
  EXPECT_THAT(log_.text(), HasSubstr("nonsense"));
}

TEST_P(HubTest, CallsWhatWasPosted) {
  start();
  std::atomic<int> calls = 0;
  for (int i = 0; i < 10; ++i) server_->hub().post([&] { ++calls; });
  EXPECT_TRUE(eventually([&] { return calls == 10; }));
}

TEST_P(HubTest, WatchesDescriptorsUntilTheyAreForgotten) {
  start();
  const Fd bell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  std::atomic<int> calls = 0;
  const uint64_t one = 1;
  Hub& hub = server_->hub();
  hub.post([&] {
    EXPECT_TRUE(hub.watch(bell.get(), [&] {
      uint64_t count = 0;
      (void)!::read(bell.get(), &count, sizeof count);
      if (++calls == 2) hub.forget(bell.get());
    }));
  });
  for (int i = 1; i <= 2; ++i) {
    (void)!::write(bell.get(), &one, sizeof one);
    EXPECT_TRUE(eventually([&] { return calls == i; }));
  }
  (void)!::write(bell.get(), &one, sizeof one);
  // The bell would be heard before what is posted now, or in the same round.
  for (int round = 1; round <= 2; ++round) {
    std::atomic<bool> heard = false;
    hub.post([&] { heard = true; });
    EXPECT_TRUE(eventually([&] { return heard.load(); }));
  }
  EXPECT_EQ(calls, 2);
  server_.reset();  // before the descriptor is closed
}

TEST_P(HubTest, ServesAConnectionThatItHasOpened) {
  start();
  HubOptions mine = hub_options(unix_address());  // the hub's, not that of the connection
  std::atomic<int> answers = 0;
  HubThread other(mine, [&](Hub&, ConnectionId, const Frame& frame) -> Result<void> {
    if (frame.type == 60 && as_text(frame.body) == "hello") ++answers;
    return {};
  });
  other.hub().post([&] {
    const ConnectionId id = other.hub().adopt(link());
    EXPECT_EQ(other.handler.last, id);
    other.hub().send(id, frame_of(60, as_bytes("hello")));
  });
  EXPECT_TRUE(eventually([&] { return answers == 1; }));
  server_.reset();
  EXPECT_TRUE(eventually([&] { return other.handler.orderly == 1; }));
}

INSTANTIATE_TEST_SUITE_P(Ways, HubTest, testing::Values(Way::unix_socket, Way::tcp, Way::encrypted_tcp), way_name);

TEST(Hub, RemovesTheFilesOfItsSockets) {
  const TemporaryDirectory directory;
  const Address address{Address::Kind::unix_socket, {}, 0, directory / "s"};
  {
    const HubThread server(hub_options(address));
    EXPECT_TRUE(std::filesystem::exists(address.path));
    EXPECT_EQ(Hub::create(hub_options(address)).error().kind, ErrorKind::exists);
  }
  EXPECT_FALSE(std::filesystem::exists(address.path));
}

TEST(Hub, StopsBeforeItRuns) {
  auto hub = Hub::create(hub_options(unix_address())).value();
  TestHandler handler(echo);
  hub->stop();
  EXPECT_TRUE(hub->run(handler));
}

}  // namespace
}  // namespace forebay::fabric
