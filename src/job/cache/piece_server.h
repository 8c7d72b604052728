// The agent's end of pieces that leaders send (docs/wire.md, "Pieces"). What comes for a position of which this agent
// does not know yet is held, and no more is taken; who sends it has its own patience.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.h"
#include "fabric/hub.h"
#include "job/cache/piece_sink.h"
#include "job/cache/piece_wire.h"
#include "job/wire/messages.h"

namespace forebay::job {

// Called by the hub's thread; a thread of its own writes, so that a slow disk does not stop the hub.
class PieceServer {
 public:
  // A leader has no more pieces for the position, or failed before: disconnected, or the first error of its pieces.
  using Ended = std::function<void(uint32_t from, const Result<void>& result)>;

  explicit PieceServer(fabric::Hub& hub);  // it outlives this
  ~PieceServer();

  static bool handles(uint8_t frame_type) { return frame_type == kPiece; }

  // A sink will be there: from now on who sends is told that it has to wait.
  void expect(const EncodingKey& key);
  void accept(const EncodingKey& key, std::shared_ptr<PieceSink> sink, Ended ended);
  // Nothing is taken for it any more: who sends is refused.
  void forget(const EncodingKey& key);

  // An error means that the other side breaks the protocol, and is for the hub, to close the connection.
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& piece);
  Result<void> received(fabric::ConnectionId id, const wire::PiecesEndT& end);
  void disconnected(fabric::ConnectionId id);

  // To be called every few seconds.
  void ping();
  bool is_busy() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::job
