#include "job/cache/piece_wire.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::job {
namespace {

template <std::integral T>
std::byte* put(std::byte* at, T number) {
  store_le(at, number);
  return at + sizeof number;
}

template <std::integral T>
const std::byte* get(const std::byte* at, T& number) {
  number = load_le<T>(at);
  return at + sizeof number;
}

}  // namespace

void write_piece_header(std::span<std::byte, kPieceRoom> to, const PieceFrame& frame) {
  Bytes empty;
  fabric::begin_frame(empty, kPiece);
  std::byte* at = std::ranges::copy(empty, to.data()).out;
  store_le(to.data(), static_cast<uint32_t>(kPieceHeader + frame.bytes.size()));
  at = put(at, frame.to.id);
  at = put(at, frame.to.group);
  at = put(at, frame.to.position);
  at = put(at, frame.from);
  at = put(at, frame.row);
  at = put(at, frame.piece);
  put(at, frame.sum);
}

Result<PieceFrame> parse_piece(std::span<const std::byte> body) {
  if (body.size() <= kPieceHeader || body.size() > kMaxPieceBody)
    return fail(ErrorKind::corrupt, fmt::format("a piece of {} bytes", body.size()));
  PieceFrame frame;
  const std::byte* at = body.data();
  at = get(at, frame.to.id);
  at = get(at, frame.to.group);
  at = get(at, frame.to.position);
  at = get(at, frame.from);
  at = get(at, frame.row);
  at = get(at, frame.piece);
  get(at, frame.sum);
  frame.bytes = body.subspan(kPieceHeader);
  return frame;
}

}  // namespace forebay::job
