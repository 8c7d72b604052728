// Any bytes as messages of either side. What can be read is written again, and must be the same then.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "lock/wire.h"
#include "lock/wire_region.h"

using namespace forebay;
using namespace forebay::lock;

namespace {

void check_region(const Region& region) {
  Bytes bytes;
  wire::put_region(bytes, region);
  Cursor reader(bytes);
  const auto again = wire::read_region(reader, region.terms().size());
  if (!again || !reader.at_end() || again->bounds() != region.bounds() ||
      again->terms().size() != region.terms().size() || again->segment_count() != region.segment_count())
    std::abort();
}

void check_server(const wire::ServerMessage& message) {
  Bytes bytes, again;
  wire::encode(bytes, message);
  const fabric::Frame frame{std::to_integer<uint8_t>(bytes[5]), std::span(bytes).subspan(fabric::kFrameHeaderBytes)};
  const auto decoded = wire::decode_server(frame);
  if (!decoded) std::abort();
  wire::encode(again, *decoded);
  if (again != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const fabric::Frame frame{data[0], std::as_bytes(std::span(data + 1, size - 1))};
  if (const auto decoded = wire::decode_client(frame, 1000))
    if (const auto* lock = std::get_if<wire::LockRequest>(&decoded->message)) check_region(lock->region);
  if (const auto message = wire::decode_server(frame)) check_server(*message);
  return 0;
}
