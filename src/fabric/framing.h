// Frames: how messages are cut out of a stream of bytes (docs/wire.md, "Frames"). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/error.h"

namespace forebay::fabric {

// A frame is the length of its body (4 bytes, little-endian), the version of the protocol, the type, and the body.
inline constexpr size_t kFrameHeaderBytes = 6;

struct Frame {
  uint8_t type = 0;
  std::span<const std::byte> body;
};

// Appends a frame to `to`: begin_frame(), then the body byte by byte, then end_frame() with what begin_frame()
// returned.
size_t begin_frame(Bytes& to, uint8_t type);
void end_frame(Bytes& to, size_t begin);

// Collects bytes and gives out whole frames. Memory: what was received and not yet given out, but never more than one
// frame of the greatest length beside what one read brings.
class FrameParser {
 public:
  explicit FrameParser(size_t max_body) : max_body_(max_body) {}

  // From now on; a frame whose header was seen before is still held to it.
  void set_max_body(size_t max_body) { max_body_ = max_body; }

  // Room for at least `size` more bytes, to read into; followed by commit() with the number that was read.
  std::span<std::byte> room(size_t size);
  void commit(size_t size) { end_ += size; }

  // The next whole frame, whose body is valid until the next call of room(). Nothing if bytes are missing. Errors of
  // check_frame_header(): then the connection is of no use any more.
  Result<std::optional<Frame>> next();

  size_t buffered() const { return end_ - begin_; }

 private:
  size_t max_body_;
  Bytes buffer_;
  size_t begin_ = 0, end_ = 0;
};

// The bytes of the body of the frame that begins so. unsupported, naming both versions, if it is of another version of
// the protocol; corrupt if the body has more than `max_body`.
Result<uint32_t> check_frame_header(std::span<const std::byte, kFrameHeaderBytes> header, size_t max_body);

}  // namespace forebay::fabric
