// Agents as far as workers see them, for the tests of workers and deliveries: a hub in a thread that serves one stage.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "fabric/hub.h"
#include "job/test_job.h"
#include "job/wire/messages.h"

namespace forebay::job::testing_support {

using namespace std::chrono_literals;

inline const fabric::Secret secret = fabric::new_secret();

inline fabric::Credentials credentials() {
  fabric::Credentials all;
  all.secret = secret;
  return all;
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const std::string& path, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

// A stage with nothing in it but Forebay's own directory.
inline std::string make_stage(const std::string& path) {
  std::filesystem::create_directories(path + "/.forebay");
  return path;
}

// Serves whatever `handle` does with frames, until it is destroyed. `handle` returns an error to close a connection.
class HubThread final : public fabric::HubHandler {
 public:
  using Handle = std::function<Result<void>(fabric::ConnectionId, const fabric::Frame&)>;
  using Gone = std::function<void(fabric::ConnectionId)>;

  explicit HubThread(bool tcp = true) {
    fabric::HubOptions options;
    options.credentials = credentials();
    options.purpose = wire::kPurpose;
    options.max_body = wire::kMaxBody;
    options.listen = {{fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}};
    if (!tcp) options.listen = {{fabric::Address::Kind::unix_socket, {}, 0, unix_name()}};
    hub_ = fabric::Hub::create(std::move(options)).value();
  }
  ~HubThread() override { stop(); }

  void stop() {
    hub_->stop();
    if (thread_.joinable()) thread_.join();
  }

  void serve(Handle handle, Gone gone, std::function<void()> tick = {}) {
    handle_ = std::move(handle);
    gone_ = std::move(gone);
    tick_ = std::move(tick);
    thread_ = std::thread([this] { EXPECT_TRUE(hub_->run(*this)); });
  }

  fabric::Hub& hub() { return *hub_; }
  std::string addresses() const { return fabric::to_string(hub_->addresses().front()); }

  Result<fabric::Link> connect() const {
    return fabric::Link::open(hub_->addresses(), credentials(), wire::kPurpose, 5s);
  }

  void connected(fabric::ConnectionId, const std::string&) override {}
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) override { return handle_(id, frame); }
  void disconnected(fabric::ConnectionId id, Ending) override { gone_(id); }
  void tick(Time now) override {
    next_ = now + 50ms;
    if (tick_) tick_();
  }
  Time next_tick() const override { return next_; }

 private:
  static std::string unix_name() {
    static std::atomic<int> number = 0;
    return "@forebay-job-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
  }

  std::unique_ptr<fabric::Hub> hub_;
  Handle handle_;
  Gone gone_;
  std::function<void()> tick_;
  Time next_{};
  std::thread thread_;
};

inline void send(fabric::Hub& hub, fabric::ConnectionId id, wire::BodyUnion body) {
  wire::MessageT message;
  message.body = std::move(body);
  Bytes frame;
  wire::encode(frame, message);
  hub.send(id, frame);
}

}  // namespace forebay::job::testing_support
