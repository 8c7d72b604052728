// Files on their way back into a stage (docs/wire.md, "Delivery"): both ends of what goes between a worker and the
// agent of another node.
//
// A connection opens one target (TargetOpen), then makes files, directories and links in it, each answered in order by
// TargetDone or Refused; TargetFinish is the last. Bytes come in frames of type kWrite, which have no answer of their
// own: what goes wrong with them is the answer to the next message. The agent tells with kTaken how much of them it has
// dealt with, and the worker has never more than kWindow bytes of bodies under way. After a refusal nothing more is
// written.
//
// What is delivered lies below delivered_path() first, where nobody looks for sets: by the set's name in the store,
// lest files of two stored sets that the application calls the same be mixed when one of them is passed over. Several
// workers may deliver into one set at once. When all have done, publish_delivered() makes the set visible in one
// rename.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "engine/restore/target.h"
#include "fabric/framing.h"
#include "fabric/hub.h"
#include "fabric/link.h"
#include "job/wire/messages.h"

namespace forebay::job {

// The body of a kWrite: number of the file (4 bytes, as its TargetFile gave it), offset in it (8 bytes), and the bytes
// to be put there. The body of a kTaken: the sum of the body lengths of all kWrite of this connection that are dealt
// with (8 bytes). Little-endian.
inline constexpr uint8_t kWrite = 65;
inline constexpr uint8_t kTaken = 66;
inline constexpr uint64_t kWindow = 8 << 20;
inline constexpr size_t kMaxWriteBytes = 512 << 10;  // of a body

struct WriteFrame {
  uint32_t file = 0;
  uint64_t offset = 0;
  std::span<const std::byte> bytes;
};

void append_write(Bytes& to, const WriteFrame& write);
Result<WriteFrame> parse_write(std::span<const std::byte> body);  // corrupt

// STAGE/.forebay/restore/STORED, of the set that the store calls so
std::string delivered_path(std::string_view stage, std::string_view stored);

// A target below delivered_path(stage, stored), made with the directories on the way: files and links replace those of
// their name, directories stay writable for their owner. not_found if `stage` has no directory of Forebay's own.
Result<std::unique_ptr<engine::Target>> open_delivered(const std::string& stage, const std::string& stored);

// Makes what was delivered of the set `stored` visible as STAGE/SET, in one rename; what was there before is removed,
// and all else that was delivered, as far as that can be: the next one removes what is left. Files that are not
// committed by then never are: whoever delivers them was given up. not_found if nothing was delivered of it. Blocks:
// for a thread that may.
Result<void> publish_delivered(const std::string& stage, const std::string& stored, const std::string& set);

// Removes what was delivered and not published, of all sets. Blocks.
Result<void> discard_delivered(const std::string& stage);

// The worker's end, over a connection with the agent: a target of its own. An agent that is silent for `patience`, or
// refuses, fails this and every later call with its error.
Result<std::unique_ptr<engine::Target>> open_remote_target(fabric::Link link, const std::string& stored,
                                                           std::chrono::milliseconds patience);

// The agent's end. Called by the hub's thread; a thread of its own writes, so that a slow disk does not stop the hub.
// Nothing outside of delivered_path() is touched, whatever messages say.
class DeliveryServer {
 public:
  DeliveryServer(std::string stage, fabric::Hub& hub);  // the hub outlives it
  ~DeliveryServer();

  // Which frames, and which messages, are this class's.
  static bool handles(uint8_t frame_type) { return frame_type == kWrite; }
  static bool handles(wire::Body message);

  // An error means that the other side breaks the protocol, and is for the hub, to close the connection.
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& write);
  Result<void> received(fabric::ConnectionId id, wire::MessageT message);
  void disconnected(fabric::ConnectionId id);

  // Sends a Ping to each connection whose writes or messages are not all dealt with, lest the other side loses patience
  // while the disk is slow. To be called from the handler's tick(), a few times within the patience.
  void ping();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::job
