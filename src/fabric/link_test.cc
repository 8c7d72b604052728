// Links to servers that stop, die or never answer.
#include "fabric/link.h"

#include <sys/socket.h>

#include "fabric/socket.h"
#include "fabric/test_hub.h"

namespace forebay::fabric {
namespace {

using namespace testing_support;

class LinkTest : public testing::TestWithParam<Way> {
 protected:
  // A hub that sends a thousand bytes for every frame.
  static void serve(const ChildServer::Announce& announce) {
    auto hub = Hub::create(hub_options(GetParam())).value();
    TestHandler handler([](Hub& self, ConnectionId id, const Frame&) -> Result<void> {
      self.send(id, frame_of(50, Bytes(1000)));
      return {};
    });
    handler.hub = hub.get();
    announce(to_string(hub->addresses().front()));
    (void)hub->run(handler);
  }

  Link open() { return open_link({parse_address(server_.said()).value()}, 10s, GetParam()).value(); }

  ChildServer server_{serve};
};

TEST_P(LinkTest, TimesOutWhenTheServerIsStopped) {
  Link link = open();
  ASSERT_TRUE(link.send(frame_of(40, {}), 5s));
  ASSERT_TRUE(link.receive(1000, 5s));
  server_.signal(SIGSTOP);
  ASSERT_TRUE(link.send(frame_of(40, {}), 5s));
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(link.receive(1000, 200ms).error().kind, ErrorKind::timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 195ms);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 3s);
}

TEST_P(LinkTest, TimesOutWhenNobodyTakesWhatItSends) {
  Link link = open();
  server_.signal(SIGSTOP);
  const Bytes much = frame_of(40, Bytes(1u << 20));
  Result<void> sent;
  for (int i = 0; i < 100 && sent; ++i) sent = link.send(much, 200ms);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, ErrorKind::timeout);
}

TEST_P(LinkTest, IsDisconnectedWhenTheServerIsKilled) {
  Link link = open();
  server_.signal(SIGKILL);
  const auto answer = link.receive(1000, 5s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::disconnected);
  EXPECT_EQ(answer.error().path, server_.said());
}

TEST_P(LinkTest, GivesUpAStoppedServerDuringTheHandshake) {
  server_.signal(SIGSTOP);
  const auto before = std::chrono::steady_clock::now();
  const auto link = open_link({parse_address(server_.said()).value()}, 200ms, GetParam());
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().kind, ErrorKind::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 3s);
}

TEST_P(LinkTest, RefusesFramesThatAreTooLong) {
  Link link = open();
  ASSERT_TRUE(link.send(frame_of(40, {}), 5s));
  EXPECT_EQ(link.receive(999, 5s).error().kind, ErrorKind::corrupt);
}

// Records and frames have ends of their own: what the next frame needs may be in this process already.
TEST_P(LinkTest, WaitsForNothingThatIsThere) {
  Link link = open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(link.send(frame_of(40, {}), 5s));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(link.wait(std::chrono::steady_clock::now() + 5s).value());
    ASSERT_TRUE(link.receive(1000, 5s));
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_FALSE(link.wait(std::chrono::steady_clock::now() + 50ms).value());
  server_.signal(SIGKILL);
  EXPECT_TRUE(link.wait(std::chrono::steady_clock::now() + 5s).value());
  EXPECT_EQ(link.receive(1000, 5s).error().kind, ErrorKind::disconnected);
}

INSTANTIATE_TEST_SUITE_P(Ways, LinkTest, testing::Values(Way::unix_socket, Way::tcp, Way::encrypted_tcp), way_name);

// Whoever sends a byte now and then does not keep a client for ever.
TEST(Link, HasOneDeadlineForTheWholeHandshake) {
  auto listener = std::move(listen(tcp_address()).value().front());
  std::atomic<bool> done = false;
  std::jthread dribbler([&] {
    Fd fd;
    while (!fd && !done) fd = Fd(::accept(listener.fd.get(), nullptr, nullptr));
    const Bytes challenge = frame_of(2, Bytes(33));
    for (size_t i = 0; i < challenge.size() && !done; ++i) {
      (void)!::send(fd.get(), &challenge[i], 1, MSG_NOSIGNAL);
      std::this_thread::sleep_for(100ms);
    }
  });
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(open_link({listener.address}, 500ms).error().kind, ErrorKind::timeout);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
  done = true;
}

}  // namespace
}  // namespace forebay::fabric
