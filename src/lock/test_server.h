// Servers and clients for the tests of this room.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "lock/client.h"
#include "lock/server.h"

namespace forebay::lock::testing_support {

inline Region bytes(uint64_t first, uint64_t length, const std::vector<Level>& levels = {}) {
  Region region;
  EXPECT_TRUE(region.add(first, length, levels));
  return region;
}

inline fabric::Address unix_address() {
  static std::atomic<int> number = 0;
  return {fabric::Address::Kind::unix_socket,
          {},
          0,
          "@forebay-test-" + std::to_string(::getpid()) + "-" + std::to_string(number++)};
}

inline fabric::Address tcp_address() { return {fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}; }

// Made before any test forks.
inline const fabric::Secret secret = fabric::new_secret();

inline ServerOptions server_options(const fabric::Address& listen) {
  ServerOptions options;
  options.listen = {listen};
  options.credentials.secret = secret;
  return options;
}

// Whether the clients of these tests borrow: all tests are made both ways.
inline bool borrowing() { return std::getenv("FOREBAY_TEST_BORROW") != nullptr; }

inline ClientOptions client_options(const std::vector<fabric::Address>& server) {
  ClientOptions options;
  options.servers = {server};
  options.credentials = server_options({}).credentials;
  options.label = "test";
  options.borrow = borrowing();
  return options;
}

// A lease clock that tests move on. Of this process only: a child that was forked has its own.
class MovedClock {
 public:
  static Clock::time_point now() { return Clock::now() + Clock::duration(ahead_.load()); }
  static void advance(Clock::duration by) { ahead_ += by.count(); }

 private:
  static inline std::atomic<Clock::rep> ahead_ = 0;
};

// A client of a server that has this clock, too.
inline std::shared_ptr<Client> moved_client_of(const Server& server) {
  ClientOptions options = client_options(server.addresses());
  options.lease_clock = MovedClock::now;
  return Client::create(options).value();
}

inline std::shared_ptr<Client> client_of(const Server& server) {
  return Client::create(client_options(server.addresses())).value();
}

}  // namespace forebay::lock::testing_support
