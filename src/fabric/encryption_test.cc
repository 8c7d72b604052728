// Encrypted connections among peers that are plain, hostile, or have listened before.
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include "fabric/handshake.h"
#include "fabric/socket.h"
#include "fabric/test_hub.h"

namespace forebay::fabric {
namespace {

using namespace testing_support;
using testing::AllOf;
using testing::HasSubstr;

// A way between a client and a server that sees everything, and does with it what a test says.
class Relay {
 public:
  using Change = std::function<void(Bytes&)>;  // of what one side has sent, before the other has it
  Relay(const Address& server, Change to_server, Change to_client)
      : listener_(std::move(listen(tcp_address()).value().front())),
        thread_([this, server, to_server, to_client](const std::stop_token& stop) {
          Fd client;
          while (!client && !stop.stop_requested()) {
            client = Fd(::accept4(listener_.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
            ::poll(nullptr, 0, 1);
          }
          const Fd far = std::move(connect({server}, std::chrono::steady_clock::now() + 5s).value().fd);
          while (!stop.stop_requested()) {
            if (!pass(client.get(), far.get(), to_server) || !pass(far.get(), client.get(), to_client)) return;
            ::poll(nullptr, 0, 1);
          }
        }) {}
  const Address& address() const { return listener_.address; }

 private:
  static bool pass(int from, int to, const Change& change) {
    Bytes bytes(1u << 20);
    const ssize_t got = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0) return false;
    bytes.resize(static_cast<size_t>(got));
    if (change) change(bytes);
    return ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  Listener listener_;
  std::jthread thread_;
};

class EncryptionTest : public testing::Test {
 protected:
  void start(Way way) {
    HubOptions options = hub_options(way);
    options.log = [this](Severity, const std::string& text) {
      const std::lock_guard lock(mutex_);
      log_ += text + "\n";
    };
    server_.emplace(std::move(options));
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  const Address& address() const { return server_->addresses().front(); }

  // One question, and whether its answer comes.
  static Result<void> ask(const Address& at, std::string_view text) {
    FOREBAY_TRY(Link link, open_link({at}, 5s, Way::encrypted_tcp));
    FOREBAY_CHECK(link.send(frame_of(40, as_bytes(text)), 5s));
    FOREBAY_TRY(const Frame answer, link.receive(1u << 20, 2s));
    EXPECT_EQ(as_text(answer.body), text);
    return {};
  }

  void expect_alive() { EXPECT_TRUE(ask(address(), "still there?")); }

  // A client's side of the handshake, by hand; `behind` goes with its proof.
  RecordKeys shake_hands(int fd, std::span<const std::byte> behind = {}) {
    ClientHandshake handshake({credentials_for(Way::encrypted_tcp), kPurpose, {}, ::geteuid(), {}}, new_nonce_key());
    Result<Step> step = handshake.begin();
    FrameParser parser(kMaxHandshakeBody);
    for (bool first = true; step && !step->done; first = false) {
      Bytes bytes = step->send;
      if (!first) bytes.insert(bytes.end(), behind.begin(), behind.end());
      EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
      auto frame = parser.next();
      while (frame && !*frame && wait_for(fd, POLLIN, std::chrono::steady_clock::now() + 5s).value()) {
        const auto room = parser.room(1);
        const ssize_t got = ::recv(fd, room.data(), room.size(), MSG_DONTWAIT);
        if (got <= 0) return {};
        parser.commit(static_cast<size_t>(got));
        frame = parser.next();
      }
      step = handshake.receive(**frame);
    }
    return step ? step->keys.value() : RecordKeys{};
  }

  Fd stranger() { return std::move(connect({address()}, std::chrono::steady_clock::now() + 5s).value().fd); }

  std::mutex mutex_;
  std::string log_;
  std::optional<HubThread> server_;
};

TEST_F(EncryptionTest, RefusesAPlainClientAndNamesBothSides) {
  start(Way::encrypted_tcp);
  const auto refused = open_link({address()}, 5s, Way::tcp);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permission);
  const auto names_both =
      AllOf(HasSubstr("client tcp:127.0.0.1:"), HasSubstr("does not encrypt, server tcp:127.0.0.1:"),
            HasSubstr(std::to_string(address().port) + " encrypts: start all of the job with --encrypt"));
  EXPECT_THAT(refused.error().what, names_both);
  EXPECT_THAT(log(), names_both);
  EXPECT_EQ(server_->handler.connections, 0);
  expect_alive();
}

TEST_F(EncryptionTest, IsRefusedByAPlainServerThatNamesBothSides) {
  start(Way::tcp);
  const auto refused = open_link({address()}, 5s, Way::encrypted_tcp);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permission);
  EXPECT_THAT(refused.error().what,
              AllOf(HasSubstr("encrypts, server tcp:127.0.0.1:"), HasSubstr("does not encrypt:")));
}

TEST_F(EncryptionTest, RefusesAnotherSecret) {
  start(Way::encrypted_tcp);
  Credentials credentials = credentials_for(Way::encrypted_tcp);
  credentials.secret = new_secret();
  const auto refused = Link::open({address()}, credentials, kPurpose, 5s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::permission);
  credentials.secret.reset();
  EXPECT_EQ(Link::open({address()}, credentials, kPurpose, 5s).error().kind, ErrorKind::permission);
}

TEST_F(EncryptionTest, NothingOfAFrameIsSeenOnTheWay) {
  start(Way::encrypted_tcp);
  const std::string text = "a text that nobody on the way may read";
  std::mutex mutex;
  Bytes seen;
  const auto keep = [&](Bytes& bytes) {
    const std::lock_guard lock(mutex);
    seen.insert(seen.end(), bytes.begin(), bytes.end());
  };
  const Relay relay(address(), keep, keep);
  EXPECT_TRUE(ask(relay.address(), text));
  const std::lock_guard lock(mutex);
  EXPECT_GT(seen.size(), 2 * text.size());
  EXPECT_EQ(as_text(seen).find("nobody on the way"), std::string_view::npos);
}

TEST_F(EncryptionTest, EndsConnectionsThatWereChangedOnTheWay) {
  start(Way::encrypted_tcp);
  // Behind the handshake, whose messages are shorter.
  const auto flip_last = [](Bytes& bytes) {
    if (bytes.size() > 60) bytes.back() ^= std::byte{1};
  };
  {
    const Relay relay(address(), flip_last, {});
    EXPECT_FALSE(ask(relay.address(), std::string(100, 'x')));
  }
  {
    const Relay relay(address(), {}, flip_last);
    const auto answer = ask(relay.address(), std::string(100, 'x'));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::corrupt) << answer.error().message();
    EXPECT_THAT(answer.error().what, HasSubstr("is not what the other side has sent next"));
  }
  expect_alive();
}

TEST_F(EncryptionTest, DropsWhatWasChangedOnTheWayToTheServer) {
  start(Way::encrypted_tcp);
  std::atomic<int> messages = 0;
  const auto flip_third = [&](Bytes& bytes) {
    if (++messages == 3) bytes.back() ^= std::byte{1};
  };
  const Relay relay(address(), flip_third, {});
  EXPECT_FALSE(ask(relay.address(), "hello"));
  EXPECT_TRUE(eventually([&] { return server_->handler.broken == 1; }));
  EXPECT_THAT(log(), HasSubstr("is not what the other side has sent next"));
  EXPECT_EQ(server_->handler.connections, 1);
  expect_alive();
}

TEST_F(EncryptionTest, RefusesARecordedConnection) {
  start(Way::encrypted_tcp);
  std::mutex mutex;
  Bytes recorded;
  {
    const Relay relay(address(),
                      [&](Bytes& bytes) {
                        const std::lock_guard lock(mutex);
                        recorded.insert(recorded.end(), bytes.begin(), bytes.end());
                      },
                      {});
    ASSERT_TRUE(ask(relay.address(), "once"));
  }
  ASSERT_TRUE(eventually([&] { return server_->handler.orderly + server_->handler.broken == 1; }));
  const Fd fd = stranger();
  ASSERT_EQ(::send(fd.get(), recorded.data(), recorded.size(), MSG_NOSIGNAL), static_cast<ssize_t>(recorded.size()));
  EXPECT_TRUE(eventually([&] { return log().find("another secret") != std::string::npos; })) << log();
  EXPECT_EQ(server_->handler.connections, 1);
}

// What the server has sent is of no use against it, nor what another connection has sent.
TEST_F(EncryptionTest, RefusesRecordsOfTheOtherDirectionAndOfOtherConnections) {
  start(Way::encrypted_tcp);
  for (const bool reflect : {true, false}) {
    const int broken = server_->handler.broken;
    const Fd first = stranger(), second = stranger();
    const RecordKeys keys = shake_hands(first.get()), others = shake_hands(second.get());
    Bytes stream;
    RecordWriter(reflect ? keys.in : others.out).write(frame_of(40, as_bytes("x")), stream);
    ASSERT_EQ(::send(first.get(), stream.data(), stream.size(), MSG_NOSIGNAL), static_cast<ssize_t>(stream.size()));
    EXPECT_TRUE(eventually([&] { return server_->handler.broken == broken + 1; }));
  }
}

TEST_F(EncryptionTest, RefusesPlainBytesBehindTheHandshake) {
  start(Way::encrypted_tcp);
  const Fd early = stranger();
  (void)shake_hands(early.get(), frame_of(40, as_bytes("plain")));
  EXPECT_TRUE(eventually([&] { return log().find("not encrypted after the handshake") != std::string::npos; }));
  const Fd late = stranger();
  (void)shake_hands(late.get());
  const Bytes plain = frame_of(40, Bytes(100));
  ASSERT_EQ(::send(late.get(), plain.data(), plain.size(), MSG_NOSIGNAL), static_cast<ssize_t>(plain.size()));
  EXPECT_TRUE(eventually([&] { return server_->handler.broken == 1; }));
  expect_alive();
}

TEST_F(EncryptionTest, LeavesUnixSocketsAsTheyAre) {
  HubOptions options = hub_options(unix_address());
  options.credentials = credentials_for(Way::encrypted_tcp);
  server_.emplace(std::move(options));
  EXPECT_TRUE(open_link(server_->addresses(), 5s, Way::tcp));
  Link link = open_link(server_->addresses(), 5s, Way::encrypted_tcp).value();
  EXPECT_FALSE(link.release().keys);
}

}  // namespace
}  // namespace forebay::fabric
