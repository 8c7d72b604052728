// Any bytes as a piece: what is understood is written again, and must be the same then.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "job/cache/piece_wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  const auto body = std::as_bytes(std::span(data, size));
  const auto piece = job::parse_piece(body);
  if (!piece) return 0;
  Bytes again(job::kPieceRoom);
  job::write_piece_header(std::span<std::byte, job::kPieceRoom>(again.data(), job::kPieceRoom), *piece);
  again.insert(again.end(), piece->bytes.begin(), piece->bytes.end());
  if (!std::ranges::equal(std::span(again).subspan(fabric::kFrameHeaderBytes), body)) std::abort();
  return 0;
}
