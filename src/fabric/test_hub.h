// Hubs in threads and in child processes, for the tests of this room.
#pragma once

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/hub.h"

namespace forebay::fabric::testing_support {

using namespace std::chrono_literals;

inline constexpr const char* kPurpose = "test";

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/forebay-fabric-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Random, then the same again: after a prime number of bytes, so that no two places of a whole number of blocks agree.
inline Bytes random_bytes(size_t size, unsigned seed = 1) {
  constexpr size_t kPeriod = 100'003;
  Bytes bytes(size);
  std::mt19937_64 random(seed);
  const size_t fresh = std::min(size, kPeriod);
  for (size_t at = 0; at < fresh; ++at) bytes[at] = static_cast<std::byte>(random());
  for (size_t at = fresh; at < size; at += kPeriod)
    std::memcpy(bytes.data() + at, bytes.data(), std::min(kPeriod, size - at));
  return bytes;
}

inline void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline Bytes frame_of(uint8_t type, std::span<const std::byte> body) {
  Bytes bytes;
  const size_t begin = begin_frame(bytes, type);
  bytes.insert(bytes.end(), body.begin(), body.end());
  end_frame(bytes, begin);
  return bytes;
}

inline Address unix_address() {
  static std::atomic<int> number = 0;
  return {Address::Kind::unix_socket,
          {},
          0,
          "@forebay-fabric-" + std::to_string(::getpid()) + "-" + std::to_string(number++)};
}

inline Address tcp_address() { return {Address::Kind::tcp, "127.0.0.1", 0, {}}; }

inline const Secret secret = new_secret();

// Over what a test's connections go.
enum class Way : uint8_t { unix_socket, tcp, encrypted_tcp };

inline std::string way_name(const testing::TestParamInfo<Way>& info) {
  constexpr const char* kNames[] = {"Unix", "Tcp", "EncryptedTcp"};
  return kNames[static_cast<size_t>(info.param)];
}

inline Credentials credentials_for(Way way) {
  Credentials credentials;
  credentials.secret = secret;
  credentials.encrypt = way == Way::encrypted_tcp;
  return credentials;
}

inline HubOptions hub_options(const Address& listen) {
  HubOptions options;
  options.listen = {listen};
  options.credentials.secret = secret;
  options.purpose = kPurpose;
  return options;
}

inline HubOptions hub_options(Way way) {
  HubOptions options = hub_options(way == Way::unix_socket ? unix_address() : tcp_address());
  options.credentials = credentials_for(way);
  return options;
}

// Does with frames what a test says, and remembers who came and went.
class TestHandler : public HubHandler {
 public:
  using Received = std::function<Result<void>(Hub&, ConnectionId, const Frame&)>;
  explicit TestHandler(Received on_received) : on_received_(std::move(on_received)) {}
  Hub* hub = nullptr;
  std::atomic<int> connections = 0, orderly = 0, broken = 0;
  std::atomic<ConnectionId> last = 0;

  void connected(ConnectionId id, const std::string&) override {
    last = id;
    ++connections;
  }
  Result<void> received(ConnectionId id, const Frame& frame) override { return on_received_(*hub, id, frame); }
  void disconnected(ConnectionId, Ending ending) override { ++(ending == Ending::orderly ? orderly : broken); }
  void tick(Time) override { next_ = Time::max(); }
  Time next_tick() const override { return next_; }

 private:
  Received on_received_;
  Time next_ = Time::max();
};

inline Result<void> echo(Hub& hub, ConnectionId id, const Frame& frame) {
  hub.send(id, frame_of(frame.type, frame.body));
  return {};
}

class HubThread {
 public:
  explicit HubThread(HubOptions options, TestHandler::Received received = echo) : handler(std::move(received)) {
    hub_ = Hub::create(std::move(options)).value();
    handler.hub = hub_.get();
    thread_ = std::thread([this] { EXPECT_TRUE(hub_->run(handler)); });
  }
  ~HubThread() {
    hub_->stop();
    thread_.join();
  }
  Hub& hub() { return *hub_; }
  const std::vector<Address>& addresses() const { return hub_->addresses(); }

  TestHandler handler;

 private:
  std::unique_ptr<Hub> hub_;
  std::thread thread_;
};

inline Result<Link> open_link(const std::vector<Address>& addresses, Link::Patience patience = 10s,
                              Way way = Way::tcp) {
  return Link::open(addresses, credentials_for(way), kPurpose, patience);
}

template <class Condition>
bool eventually(const Condition& condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return condition();
}

// A process that serves until it is killed. `serve` is called in it, with a function that tells the addresses; or it
// executes a program that prints them, and closes its output.
class ChildServer {
 public:
  using Announce = std::function<void(const std::string&)>;
  explicit ChildServer(const std::function<void(const Announce&)>& serve) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[1]);
      ::alarm(120);
      serve([](const std::string& text) {
        (void)!::write(STDOUT_FILENO, text.data(), text.size());
        ::close(STDOUT_FILENO);
      });
      ::_exit(0);
    }
    ::close(ends[1]);
    char buffer[4096];
    for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      said_.append(buffer, static_cast<size_t>(got));
    ::close(ends[0]);
  }
  ~ChildServer() {
    signal(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ChildServer(const ChildServer&) = delete;
  ChildServer& operator=(const ChildServer&) = delete;
  void signal(int number) const { ::kill(pid_, number); }
  const std::string& said() const { return said_; }

 private:
  pid_t pid_ = -1;
  std::string said_;
};

}  // namespace forebay::fabric::testing_support
