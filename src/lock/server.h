// A lock server: one thread that serves connections over TCP and Unix sockets, as a daemon or inside a job.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/address.h"
#include "fabric/credentials.h"
#include "fabric/hub.h"
#include "lock/lease_clock.h"

namespace forebay::lock {

using fabric::Severity;

struct ServerOptions {
  // Where to listen. TCP port 0 takes any free one; the host "*" or "0.0.0.0" means every interface. A name in the
  // abstract space should be one that no server on another node has, too: a client there would find that one.
  std::vector<fabric::Address> listen;
  fabric::PortRange ports;  // that TCP may take where `listen` leaves it open
  fabric::Credentials credentials;

  std::chrono::milliseconds lease{10'000};  // a client that is not heard of for so long loses its locks,
  std::chrono::milliseconds grace{2'000};   // and only after this further time others get them

  // From the start, nothing is granted for so long. lease + grace where a server ran before whose clients may still
  // believe in their locks.
  std::chrono::milliseconds hold_off{0};

  LeaseClock lease_clock = kSteadyLeases;

  uint64_t max_terms = 1u << 20;              // of one request
  uint64_t max_client_memory = 256ull << 20;  // bytes, of all requests of a connection
  uint32_t max_connections = 65536;
  std::chrono::milliseconds handshake_timeout{5'000};  // who has not proved by then who it is, is a stranger

  // Called by the server's thread, for instance when a stranger is refused. The server prints nothing itself.
  std::function<void(Severity, const std::string&)> log;
};

// Thread-safe. Strangers get little time and memory to prove that they belong here, and are refused and logged.
class Server {
 public:
  // Binds and starts the thread, which blocks all signals. Errors of the system with the address as their path; exists
  // if another server listens there; invalid_argument for times or addresses that make no sense.
  static Result<std::unique_ptr<Server>> start(ServerOptions options);

  // Closes every connection and ends the thread. Waiting clients see a lost connection. Does nothing in a child of
  // fork(), where there is no such thread.
  ~Server();

  // Where it listens, with the ports that were chosen; "every interface" becomes the addresses of this host other than
  // loopback, or loopback if there is no other.
  std::vector<fabric::Address> addresses() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::lock
