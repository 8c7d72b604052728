// Parts of files as output of a hub, and what becomes of it when files or peers fail.
#include <filesystem>

#include "fabric/test_hub.h"

namespace forebay::fabric {
namespace {

using namespace testing_support;

class SendFile : public testing::TestWithParam<Way> {
 protected:
  void start(std::vector<std::pair<uint64_t, uint64_t>> parts) {
    write_file(path_, bytes_);
    parts_ = std::move(parts);
    server_.emplace(hub_options(GetParam()),
                    [this](Hub& hub, ConnectionId id, const Frame&) { return answer(hub, id); });
  }

  // One frame: its parts of the file, each after a comma, and a full stop.
  Result<void> answer(Hub& hub, ConnectionId id) {
    FOREBAY_TRY(const std::shared_ptr<const FileSource> file, FileSource::open(path_));
    uint64_t length = 1;
    for (const auto& part : parts_) length += 1 + part.second;
    Bytes before;
    begin_frame(before, 50);
    store_le(before.data(), static_cast<uint32_t>(length));
    for (const auto& [offset, size] : parts_) {
      before.push_back(std::byte{','});
      hub.send_file(id, before, file, offset, size);
      before.clear();
    }
    hub.send(id, as_bytes("."));
    hub.send(id, frame_of(51, as_bytes("next")));
    return {};
  }

  Bytes expected() const {
    Bytes all;
    for (const auto& [offset, size] : parts_) {
      all.push_back(std::byte{','});
      all.insert(all.end(), bytes_.begin() + static_cast<ptrdiff_t>(offset),
                 bytes_.begin() + static_cast<ptrdiff_t>(offset + size));
    }
    all.push_back(std::byte{'.'});
    return all;
  }

  Link ask() {
    Link link = open_link(server_->addresses(), 10s, GetParam()).value();
    EXPECT_TRUE(link.send(frame_of(40, {}), 5s));
    return link;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "data";
  const Bytes bytes_ = random_bytes(40u << 20);
  std::vector<std::pair<uint64_t, uint64_t>> parts_;
  std::optional<HubThread> server_;
};

TEST_P(SendFile, KeepsTheOrderOfAllOutput) {
  start({{0, 10}, {100, 0}, {5'000'000, 7'000'000}, {1, 1}, {3, 65536}, {bytes_.size() - 5, 5}});
  Link link = ask();
  for (int round = 0; round < 2; ++round) {
    const auto frame = link.receive(100u << 20, 5s);
    ASSERT_TRUE(frame) << frame.error().message();
    EXPECT_TRUE(std::ranges::equal(frame->body, expected()));
    const auto next = link.receive(100, 5s);
    ASSERT_TRUE(next);
    EXPECT_EQ(as_text(next->body), "next");
    ASSERT_TRUE(link.send(frame_of(40, {}), 5s));
  }
}

TEST_P(SendFile, ServesOthersMeanwhile) {
  start({{0, bytes_.size()}});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Link link = ask();
      const auto frame = link.receive(100u << 20, 10s);
      ASSERT_TRUE(frame) << frame.error().message();
      EXPECT_TRUE(std::ranges::equal(frame->body, expected()));
    });
}

TEST_P(SendFile, ClosesWhenTheFileHasShrunk) {
  start({{0, bytes_.size()}});
  Link link = ask();
  ASSERT_TRUE(link.next(100u << 20, 5s));
  std::filesystem::resize_file(path_, 1000);
  Bytes body(bytes_.size() + 2);
  EXPECT_EQ(link.read(body, 5s).error().kind, ErrorKind::disconnected);
  EXPECT_TRUE(eventually([&] { return server_->handler.broken == 1; }));
}

// sendfile() raises SIGPIPE, which would end the process.
TEST_P(SendFile, LivesOnWhenPeersGoInTheMiddle) {
  start({{0, bytes_.size()}});
  for (int i = 0; i < 10; ++i) {
    Link link = ask();
    ASSERT_TRUE(link.next(100u << 20, 5s));
  }
  EXPECT_TRUE(eventually([&] { return server_->handler.orderly + server_->handler.broken == 10; }));
}

INSTANTIATE_TEST_SUITE_P(Ways, SendFile, testing::Values(Way::unix_socket, Way::tcp, Way::encrypted_tcp), way_name);

}  // namespace
}  // namespace forebay::fabric
