// Any bytes as a message of a job, and as a file of a rendezvous directory. What can be read is written again, and must
// be the same then.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "job/rendezvous/liveness.h"
#include "job/rendezvous/rendezvous.h"
#include "job/wire/messages.h"

using namespace forebay;
using namespace forebay::job;

namespace {

fabric::Frame frame_of(std::span<const std::byte> bytes) {
  return {std::to_integer<uint8_t>(bytes[5]), bytes.subspan(fabric::kFrameHeaderBytes)};
}

void check_message(const wire::MessageT& message) {
  Bytes bytes, again;
  wire::encode(bytes, message);
  const auto decoded = wire::decode(frame_of(bytes));
  if (!decoded) std::abort();
  wire::encode(again, *decoded);
  if (again != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto message = wire::decode({wire::kMessage, bytes})) check_message(*message);
  if (const auto place = parse_place(as_text(bytes), "fuzz"))
    if (const auto again = parse_place(seal_place(*place), "fuzz"); !again || *again != *place) std::abort();
  if (const auto holder = parse_holder(as_text(bytes), "fuzz"))
    if (const auto again = parse_holder(seal_holder(*holder), "fuzz"); !again || *again != *holder) std::abort();
  (void)parse_process_start(as_text(bytes));
  return 0;
}
