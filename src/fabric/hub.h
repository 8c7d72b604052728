// The serving side of connections: one thread that listens, lets in who proves to belong here, and passes frames on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/error.h"
#include "fabric/address.h"
#include "fabric/credentials.h"
#include "fabric/framing.h"
#include "fabric/link.h"

namespace forebay::fabric {

using ConnectionId = uint64_t;  // never used again
enum class Severity : uint8_t { info, warning };

// What is spoken over a hub's connections. Called by the hub's thread alone, in run().
class HubHandler {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // orderly: this side or the other has closed the connection, or its process is gone. broken: the path may be lost.
  enum class Ending : uint8_t { orderly, broken };

  virtual ~HubHandler() = default;
  virtual void connected(ConnectionId id, const std::string& peer) = 0;
  // An error closes the connection, with a line in the log; disconnected(broken) follows.
  virtual Result<void> received(ConnectionId id, const Frame& frame) = 0;
  // Once for each connected(), whoever ended it; never from within send(), send_file() or close(). Not when the hub
  // itself ends.
  virtual void disconnected(ConnectionId id, Ending ending) = 0;
  // Called at next_tick() or later, after what has arrived was received.
  virtual void tick(Time now) = 0;
  virtual Time next_tick() const = 0;  // Time::max(): never
};

struct HubOptions {
  std::vector<Address> listen;  // TCP port 0 takes a free one of `ports`; the host "*" means every interface
  PortRange ports;
  Credentials credentials;
  std::string purpose;        // that clients must mean, too
  size_t max_body = 1 << 20;  // of a frame, once the handshake is done
  uint32_t max_connections = 65536;
  std::chrono::milliseconds handshake_timeout{5'000};     // who has not proved by then who it is, is a stranger
  size_t max_output = 64u << 20;                          // bytes in memory; a peer that lets more pile up is dropped
  std::function<void(Severity, const std::string&)> log;  // by the hub's thread, at most 20 lines a second
};

// Strangers get little time and memory to prove that they belong here, and are refused and logged.
class Hub {
 public:
  // Binds. Errors of the system with the address as their path; exists if somebody listens there.
  static Result<std::unique_ptr<Hub>> create(HubOptions options);
  ~Hub();  // closes all connections, and removes the files of Unix sockets

  // Where it listens, with the ports that were chosen; "every interface" becomes the addresses of this host other than
  // loopback, or loopback if there is no other.
  const std::vector<Address>& addresses() const;

  // Serves until stop() is called. When this returns nobody can connect any more, and the addresses are free; peers see
  // their connections end when the hub is destroyed. limit when there is no memory left: everything is closed then.
  Result<void> run(HubHandler& handler);

  // From any thread. post() lets run() call `action` soon.
  void stop();
  void post(std::function<void()> action);

  // The rest is for the thread of run(). Calls with an id that is gone do nothing.

  // Sends whole frames, after those that wait.
  void send(ConnectionId id, std::span<const std::byte> frames);

  // Sends `before`, with which a frame begins or goes on, and then `length` bytes of a file, which are not copied into
  // this process (sendfile) unless the connection is encrypted. Further calls of send_file() and send() in the same
  // turn complete the frame. If the file cannot be read as announced, the connection is closed.
  void send_file(ConnectionId id, std::span<const std::byte> before, std::shared_ptr<const FileSource> file,
                 uint64_t offset, uint64_t length);

  // At the end of the turn, after one attempt to send what waits. Nothing is received any more.
  void close(ConnectionId id);

  // From now on the hub serves this connection, which this side has opened; connected() is called before this returns.
  ConnectionId adopt(Link link);

  // Calls `ready` when `fd` can be read; until forget(fd). The descriptor stays the caller's.
  Result<void> watch(int fd, std::function<void()> ready);
  void forget(int fd);

 private:
  struct Impl;
  explicit Hub(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::fabric
