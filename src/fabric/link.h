// One side of a connection that talks in blocking calls: a client of a Hub.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "fabric/address.h"
#include "fabric/credentials.h"
#include "fabric/framing.h"
#include "fabric/records.h"

namespace forebay::fabric {

// Used by one thread at a time. No call waits longer than its `patience` for the other side to take or to send the next
// byte: timeout then, and disconnected when the connection has ended; after either the link is of no use any more.
class Link {
 public:
  using Patience = std::chrono::milliseconds;

  // Connects to the first address that answers, and goes through the handshake as the client. `patience` is for all of
  // it. Errors as connect() and ClientHandshake.
  static Result<Link> open(const std::vector<Address>& addresses, const Credentials& credentials,
                           std::string_view purpose, Patience patience);
  Link(Link&&) noexcept;
  Link& operator=(Link&&) noexcept;
  ~Link();

  // Sends whole frames (framing.h).
  Result<void> send(std::span<const std::byte> frames, Patience patience);

  // What the next frame is. All of its body must be read before the next call.
  struct Header {
    uint8_t type = 0;
    uint32_t body_bytes = 0;
  };
  // corrupt if the body is longer than `max_body`.
  Result<Header> next(size_t max_body, Patience patience);

  // The next out.size() bytes of the body, straight from the socket.
  Result<void> read(std::span<std::byte> out, Patience patience);

  // next() and read() of a whole frame, which is valid until the next call.
  Result<Frame> receive(size_t max_body, Patience patience);

  const std::string& peer() const;  // for messages: an address
  int fd() const;                   // to wait for, but where the link is encrypted: wait()

  // Waits until receive() has something to begin with, or the connection has ended. False if the deadline has passed.
  Result<bool> wait(std::chrono::steady_clock::time_point deadline);

  // Takes the connection out, for Hub::adopt(), before anything was sent or received since open().
  struct Released {
    Fd fd;
    std::optional<RecordKeys> keys;  // if it is encrypted
  };
  Released release();

 private:
  struct State;
  explicit Link(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace forebay::fabric
