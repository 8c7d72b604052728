// How an agent reaches the agents of other members: for records, for bytes, and with pieces. Blocking calls, for
// threads that may; each is cancelled when `stop` is requested, as soon as the other side says anything or its patience
// is over.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "base/error.h"
#include "fabric/credentials.h"
#include "fabric/link.h"
#include "fabric/remote.h"
#include "job/cache/piece_wire.h"
#include "job/wire/messages.h"

namespace forebay::job {

struct MemberAccess {
  fabric::Credentials credentials;
  std::chrono::milliseconds patience{10'000};  // with a peer that says nothing
  bool ucx = false;

  // disconnected if nobody serves the member; else as Link::open().
  Result<fabric::Link> connect(const std::string& addresses) const;
  Result<std::unique_ptr<fabric::Transport>> transport(const std::string& addresses) const;
};

// The bytes of a Record. Errors: what the other side refuses with.
Result<std::string> ask_record(const MemberAccess& access, const std::string& addresses, const EncodingKey& key,
                               wire::RecordPart part, const std::stop_token& stop);

// One leader's pieces for one position. After an error it is of no use any more.
class PieceSender {
 public:
  static Result<PieceSender> open(const MemberAccess& access, const std::string& addresses);

  // A whole frame of type kPiece.
  Result<void> send(std::span<const std::byte> frame, const std::stop_token& stop);
  // Waits until all is written there.
  Result<void> end(const EncodingKey& to, uint32_t from, const std::stop_token& stop);
  uint64_t sent_bytes() const { return sent_; }

 private:
  PieceSender(fabric::Link link, std::chrono::milliseconds patience) : link_(std::move(link)), patience_(patience) {}
  // Whether the next frame is the answer to PiecesEnd.
  Result<bool> receive(const std::stop_token& stop);

  fabric::Link link_;
  std::chrono::milliseconds patience_;
  uint64_t sent_ = 0, taken_ = 0;  // bytes of bodies
};

}  // namespace forebay::job
