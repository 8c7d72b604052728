// Pieces on their way from the leader of a row to the member that holds them (docs/wire.md, "Pieces"): frames of type
// kPiece over a connection with that member's agent, for one position, from one leader. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/error.h"
#include "fabric/framing.h"
#include "redundancy/geometry.h"

namespace forebay::job {

inline constexpr uint8_t kPiece = 67;
// From the agent: the sum of the body lengths of all kPiece of this connection that are dealt with (8 bytes).
inline constexpr uint8_t kPiecesTaken = 68;
inline constexpr uint64_t kPieceWindow = 8 << 20;  // bytes of bodies under way that are not told as taken

// A position of an encoding.
struct EncodingKey {
  uint64_t id = 0;
  uint32_t group = 0, position = 0;
  auto operator<=>(const EncodingKey&) const = default;
};

struct PieceFrame {
  EncodingKey to;
  uint32_t from = 0;   // the leader's position
  uint32_t row = 0;    // what of the row the position has: data or parity
  uint64_t piece = 0;  // of the chunk
  uint64_t sum = 0;    // crc64 of the bytes
  std::span<const std::byte> bytes{};
};

// The body of a frame is 40 bytes, all little-endian: id (8), group, position, from, row (4 each), piece, sum (8 each);
// then the bytes: at least one, at most kPieceBytes.
inline constexpr size_t kPieceHeader = 40;
inline constexpr size_t kMaxPieceBody = kPieceHeader + redundancy::kPieceBytes;
// What a whole frame has before the piece's bytes.
inline constexpr size_t kPieceRoom = fabric::kFrameHeaderBytes + kPieceHeader;

// Writes the first kPieceRoom bytes of the frame; `frame.bytes` are to follow where they lie.
void write_piece_header(std::span<std::byte, kPieceRoom> to, const PieceFrame& frame);
Result<PieceFrame> parse_piece(std::span<const std::byte> body);  // corrupt

}  // namespace forebay::job
