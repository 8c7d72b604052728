// A transport's connection with its agent: requests out, and the answers that are no data in.
#pragma once

#include <optional>

#include "fabric/data_wire.h"
#include "fabric/link.h"

namespace forebay::fabric {

class TransportLink {
 public:
  TransportLink(Link link, Link::Patience patience) : link_(std::move(link)), patience_(patience) {}

  uint64_t new_number() { return next_number_++; }
  Result<void> send(std::span<const std::byte> frames) { return link_.send(frames, patience_); }
  Result<Link::Header> next(size_t max_body) { return link_.next(max_body, patience_); }
  Result<void> read(std::span<std::byte> out) { return link_.read(out, patience_); }
  Result<Bytes> read_body(const Link::Header& header);
  int fd() const { return link_.fd(); }
  Link::Patience patience() const { return patience_; }

  // An answer whose header was read, and which must be the failure of request `number`.
  Result<Error> read_failure(const Link::Header& header, uint64_t number);

  // Asks, when no other request is under way, whether the exposure is unchanged; the agent's error if not.
  Result<std::optional<Error>> check(uint64_t exposure);

  // corrupt: the agent does not follow the protocol.
  std::unexpected<Error> broken(const char* what) const { return fail(ErrorKind::corrupt, what, link_.peer()); }
  std::unexpected<Error> silent() const { return fail(ErrorKind::timeout, "no answer in time", link_.peer()); }
  const std::string& peer() const { return link_.peer(); }

  // After an error of the connection, all calls of the transport have it.
  template <class T>
  Result<T> lasting(Result<T> result) {
    if (failure_) return std::unexpected(*failure_);
    if (!result) failure_ = result.error();
    return result;
  }
  bool failed() const { return failure_.has_value(); }

 private:
  Link link_;
  const Link::Patience patience_;
  uint64_t next_number_ = 1;
  std::optional<Error> failure_;
};

// What every transport asks first: whether `out` has room for exactly these bytes.
Result<void> check_room(std::span<const Piece> pieces, std::span<const std::byte> out);

}  // namespace forebay::fabric
