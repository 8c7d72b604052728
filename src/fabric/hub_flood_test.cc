// Hubs that many strangers come to at once: who belongs there is let in, soon.
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "fabric/handshake.h"
#include "fabric/socket.h"
#include "fabric/test_hub.h"

namespace forebay::fabric {
namespace {

using namespace testing_support;
using Clock = std::chrono::steady_clock;

class HubFlood : public testing::Test {
 protected:
  // As daemons do.
  HubFlood() {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    most_ = std::min<size_t>(3'500, (files.rlim_cur - 200) / 2);
    server_.emplace(hub_options(tcp_address()));
  }

  // What a stranger does that connects and says nothing, or not enough: all of them stay open on this side.
  void let_strangers_come(size_t count, const std::string& say = {}) {
    for (size_t i = 0; i < count; ++i) {
      auto one = connect(server_->addresses(), Clock::now() + 20s);
      ASSERT_TRUE(one) << one.error().message();
      if (!say.empty()) (void)!::send(one->fd.get(), say.data(), say.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      strangers_.push_back(std::move(one->fd));
    }
  }

  void expect_three_get_in() {
    for (int i = 0; i < 3; ++i) {
      auto link = open_link(server_->addresses(), 4s);
      ASSERT_TRUE(link) << "number " << i << ": " << link.error().message();
      ASSERT_TRUE(link->send(frame_of(40, as_bytes("hello")), 5s));
      ASSERT_TRUE(link->receive(100, 5s));
    }
  }

  size_t most_ = 0;
  std::vector<Fd> strangers_;
  std::optional<HubThread> server_;
};

TEST_F(HubFlood, OfSilentOnes) {
  let_strangers_come(most_);
  expect_three_get_in();
}

TEST_F(HubFlood, OfThoseWhoOnlySayHello) {
  std::string hello(2 + 4 + kNonceBytes, '\x2');  // of the method "secret"
  hello[1] = 4;
  hello.replace(2, 4, kPurpose);
  const Bytes frame = frame_of(1, as_bytes(hello));
  let_strangers_come(most_, std::string(as_text(frame)));
  expect_three_get_in();
}

TEST_F(HubFlood, ThatDoesNotEnd) {
  std::jthread flood([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)connect(server_->addresses(), Clock::now() + 5s);
  });
  expect_three_get_in();
}

TEST_F(HubFlood, LeavesAloneWhoIsKnown) {
  Link early = open_link(server_->addresses()).value();
  let_strangers_come(most_);
  ASSERT_TRUE(early.send(frame_of(40, as_bytes("still there?")), 5s));
  EXPECT_TRUE(early.receive(100, 5s));
}

// The ranks of a large node all come at once, and from one address.
TEST_F(HubFlood, OfThoseWhoBelongHere) {
  constexpr size_t kThreads = 24;
  const size_t each = most_ / kThreads / 2;
  std::vector<std::vector<Link>> links(kThreads);
  std::atomic<size_t> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (auto& mine : links)
      threads.emplace_back([&] {
        for (size_t i = 0; i < each; ++i) {
          auto link = open_link(server_->addresses(), 20s);
          if (link)
            mine.push_back(std::move(*link));
          else
            ++refused;
        }
      });
  }
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(static_cast<size_t>(server_->handler.connections), kThreads * each);
  EXPECT_EQ(server_->handler.broken, 0);
}

}  // namespace
}  // namespace forebay::fabric
