// Any frames as a delivery into a stage. What a write says is written again, and must be the same then; and whatever is
// asked for, nothing may come to lie outside of what is delivered.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>

#include "fabric/framing.h"
#include "job/delivery/delivery.h"
#include "job/delivery/delivery_session.h"

using namespace forebay;
using namespace forebay::job;
namespace fs = std::filesystem;

namespace {

void check_write(const WriteFrame& write, std::span<const std::byte> body) {
  Bytes again;
  append_write(again, write);
  if (!std::ranges::equal(std::span(again).subspan(fabric::kFrameHeaderBytes), body)) std::abort();
}

void deliver(const std::string& stage, std::span<const std::byte> bytes) {
  constexpr size_t kMaxFrame = 1 << 16;
  DeliverySession session(stage);
  fabric::FrameParser parser(kMaxFrame);
  std::ranges::copy(bytes, parser.room(bytes.size()).begin());
  parser.commit(bytes.size());
  for (auto frame = parser.next(); frame && *frame; frame = parser.next()) {
    if ((*frame)->type == kWrite) {
      const auto write = parse_write((*frame)->body);
      if (!write) return;
      check_write(*write, (*frame)->body);
      session.write(*write);
      continue;
    }
    const auto message = wire::decode(**frame);
    if (message && DeliveryServer::handles(message->body.type)) static_cast<void>(session.handle(message->body));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char pattern[] = "/dev/shm/forebay-delivery-fuzz-XXXXXX";
  const char* const made = ::mkdtemp(pattern);
  if (!made) return 0;
  const fs::path root = made;
  fs::create_directories(root / "stage/.forebay");
  deliver(root / "stage", std::as_bytes(std::span(data, size)));
  const auto entries = [](const fs::path& path) { return std::distance(fs::directory_iterator(path), {}); };
  if (entries(root) != 1 || entries(root / "stage") != 1 || entries(root / "stage/.forebay") > 1) std::abort();
  fs::remove_all(root);
  return 0;
}
