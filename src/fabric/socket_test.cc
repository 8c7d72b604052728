#include "fabric/socket.h"

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::fabric {
namespace {

using namespace std::chrono_literals;

auto soon() { return std::chrono::steady_clock::now() + 5s; }

struct TemporaryDirectory {
  TemporaryDirectory() {
    char name[] = "/tmp/forebay-socket-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  std::string path;
};

Address unix_socket(const std::string& path) { return {Address::Kind::unix_socket, {}, 0, path}; }

TEST(Socket, TakesAFreePort) {
  const auto listeners = listen({Address::Kind::tcp, "127.0.0.1", 0, {}});
  ASSERT_TRUE(listeners) << listeners.error().message();
  ASSERT_EQ(listeners->size(), 1u);
  EXPECT_NE(listeners->front().address.port, 0);
  const auto connected = connect({listeners->front().address}, soon());
  ASSERT_TRUE(connected);
  EXPECT_FALSE(peer_uid(connected->fd.get()));
  EXPECT_EQ(describe_peer(connected->fd.get()), to_string(listeners->front().address));
}

TEST(Socket, TakesAPortOfARangeAndSaysWhenNoneIsFree) {
  const Address any{Address::Kind::tcp, "127.0.0.1", 0, {}};
  const uint16_t port = listen(any).value().front().address.port;
  const PortRange only{port, port};
  const auto listeners = listen(any, only);
  ASSERT_TRUE(listeners) << listeners.error().message();
  EXPECT_EQ(listeners->front().address.port, port);
  const auto second = listen(any, only);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::exists);
  EXPECT_THAT(second.error().message(), testing::HasSubstr(std::to_string(port)));
  // A port that an address names is taken whatever the range is.
  const auto named = listen({Address::Kind::tcp, "127.0.0.1", port, {}}, {1, 2});
  EXPECT_FALSE(named);
}

TEST(Socket, NamesAnAddressThatIsNotThisNodes) {
  const auto elsewhere = listen({Address::Kind::tcp, "198.51.100.77", 0, {}});  // of documents (RFC 5737)
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(elsewhere.error().message().find("198.51.100.77"), std::string::npos) << elsewhere.error().message();
  EXPECT_NE(elsewhere.error().hint.find("ip address"), std::string::npos);
}

TEST(Socket, TakesTheFreePortOfARange) {
  const Address any{Address::Kind::tcp, "127.0.0.1", 0, {}};
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto first = listen(any);
    ASSERT_TRUE(first);
    const uint16_t port = first->front().address.port;
    if (port == UINT16_MAX || !listen({any.kind, any.host, static_cast<uint16_t>(port + 1), {}})) continue;
    for (int again = 0; again < 20; ++again) {  // it begins anywhere
      const auto second = listen(any, {port, static_cast<uint16_t>(port + 1)});
      ASSERT_TRUE(second) << second.error().message();
      EXPECT_EQ(second->front().address.port, port + 1);
    }
    return;
  }
  GTEST_SKIP() << "no two ports in a row are free";
}

TEST(Socket, ListensOnEveryInterfaceByOnePort) {
  const auto listeners = listen({Address::Kind::tcp, "*", 0, {}});
  ASSERT_TRUE(listeners) << listeners.error().message();
  for (const Listener& one : *listeners) EXPECT_EQ(one.address.port, listeners->front().address.port);
  EXPECT_TRUE(connect({{Address::Kind::tcp, "127.0.0.1", listeners->front().address.port, {}}}, soon()));
}

TEST(Socket, KnowsTheUserAtTheOtherEnd) {
  const TemporaryDirectory directory;
  const auto address = unix_socket(directory.path + "/s");
  const auto listeners = listen(address);
  ASSERT_TRUE(listeners);
  struct stat status;
  ASSERT_EQ(::stat(address.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  const auto connected = connect({address}, soon());
  ASSERT_TRUE(connected);
  EXPECT_EQ(peer_uid(connected->fd.get()), ::geteuid());
}

TEST(Socket, TakesOverAFileThatNobodyListensTo) {
  const TemporaryDirectory directory;
  const auto address = unix_socket(directory.path + "/s");
  {
    const auto listeners = listen(address);
    ASSERT_TRUE(listeners);
    EXPECT_EQ(listen(address).error().kind, ErrorKind::exists);
  }
  EXPECT_TRUE(listen(address));
}

TEST(Socket, LeavesFilesThatAreNoSocketsAlone) {
  const TemporaryDirectory directory;
  const auto address = unix_socket(directory.path + "/thesis");
  std::ofstream(address.path) << "years of work";
  EXPECT_EQ(listen(address).error().kind, ErrorKind::exists);
  EXPECT_TRUE(std::filesystem::is_regular_file(address.path));
  std::filesystem::create_symlink(address.path, directory.path + "/link");
  EXPECT_EQ(listen(unix_socket(directory.path + "/link")).error().kind, ErrorKind::exists);
  EXPECT_TRUE(std::filesystem::is_symlink(directory.path + "/link"));
}

TEST(Socket, GivesAFileToOneOfThoseWhoWantItAtOnce) {
  const TemporaryDirectory directory;
  const auto address = unix_socket(directory.path + "/s");
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> listening = 0;
    std::vector<Listener> kept[4];
    {
      std::vector<std::jthread> threads;
      for (auto& mine : kept)
        threads.emplace_back([&] {
          auto listeners = listen(address);
          if (!listeners) return;
          ++listening;
          mine = std::move(*listeners);
        });
    }
    EXPECT_EQ(listening, 1);
  }
}

TEST(Socket, TakesAPortOnEveryInterfaceOrNotAtAll) {
  const auto listeners = listen({Address::Kind::tcp, "0.0.0.0", 0, {}});
  ASSERT_TRUE(listeners);
  const auto every = listen({Address::Kind::tcp, "*", listeners->front().address.port, {}});
  ASSERT_FALSE(every);
  EXPECT_EQ(every.error().kind, ErrorKind::exists) << every.error().message();
}

// A host that does not answer at all.
class Silent {
 public:
  Silent() : listener_(std::move(listen({Address::Kind::tcp, "127.0.0.1", 0, {}}).value().front())) {
    ::listen(listener_.fd.get(), 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(listener_.address.port);
    for (Fd& one : queue_) {
      one = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      ::connect(one.get(), reinterpret_cast<sockaddr*>(&at), sizeof at);
    }
  }
  const Address& address() const { return listener_.address; }

 private:
  Listener listener_;
  std::array<Fd, 8> queue_;
};

TEST(Socket, LeavesTimeForTheAddressesAfterASilentOne) {
  const Silent silent;
  EXPECT_EQ(connect({silent.address()}, std::chrono::steady_clock::now() + 200ms).error().kind, ErrorKind::timeout);
  const auto listeners = listen({Address::Kind::tcp, "127.0.0.1", 0, {}});
  ASSERT_TRUE(listeners);
  const auto deadline = std::chrono::steady_clock::now() + 4s;
  const auto connected = connect({silent.address(), listeners->front().address}, deadline);
  ASSERT_TRUE(connected) << connected.error().message();
  EXPECT_EQ(connected->address, listeners->front().address);
  EXPECT_LT(std::chrono::steady_clock::now() + 500ms, deadline);
}

TEST(Socket, TriesOneAddressAfterTheOther) {
  const auto listeners = listen(unix_socket("@forebay-socket-test-" + std::to_string(::getpid())));
  ASSERT_TRUE(listeners);
  const auto connected = connect(
      {unix_socket("@forebay-nobody"), {Address::Kind::tcp, "127.0.0.1", 1, {}}, listeners->front().address}, soon());
  ASSERT_TRUE(connected) << connected.error().message();
  EXPECT_EQ(connected->address, listeners->front().address);
  EXPECT_EQ(connect({unix_socket("@forebay-nobody")}, soon()).error().kind, ErrorKind::disconnected);
}

TEST(Socket, FindsAddressesOfThisHost) { EXPECT_FALSE(host_addresses().empty()); }

}  // namespace
}  // namespace forebay::fabric
