// Any bytes as the bodies of the messages by which files are read: what decodes keeps its bounds, and is the same after
// another turn through the wire.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "fabric/data_wire.h"

using namespace forebay;
using namespace forebay::fabric;
using namespace forebay::fabric::data_wire;

static std::span<const std::byte> body_of(const Bytes& frame) { return std::span(frame).subspan(kFrameHeaderBytes); }

static void require(bool holds) {
  if (!holds) std::abort();
}

static void check(const Read& read) {
  require(read.pieces.size() <= kMaxPieces && total(read.pieces) <= kMaxReadBytes);
  Bytes frame;
  encode(frame, read);
  const auto again = decode_read(body_of(frame));
  require(again && again->number == read.number && again->exposure == read.exposure && again->pieces == read.pieces);
  require(cut(read.pieces).size() <= 1);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto body = std::as_bytes(std::span(data, size));
  if (const auto read = decode_read(body)) check(*read);
  if (const auto read = decode_ucx_read(body)) check(read->read);
  (void)decode_check(body);
  (void)decode_number(body);
  (void)decode_address(body);
  if (const auto failed = decode_failed(body)) {
    Bytes frame;
    encode(frame, *failed);
    require(body_of(frame).size() <= kMaxAnswerBody && decode_failed(body_of(frame)).has_value());
  }
  return 0;
}
