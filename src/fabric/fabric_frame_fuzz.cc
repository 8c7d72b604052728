// Any bytes as a stream of frames, and those as the messages of a handshake, to both sides.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fabric/handshake.h"

using namespace forebay;
using namespace forebay::fabric;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Secret secret{};
  const Party party{{secret, false}, "lock", std::nullopt, 1000, {}};
  ClientHandshake client(party, NonceKey{});
  ServerHandshake server(party, NonceKey{});
  (void)client.begin();
  FrameParser parser(kMaxHandshakeBody);
  const size_t step = 1 + data[0];
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  for (size_t at = 0; at < bytes.size(); at += step) {
    const auto piece = bytes.subspan(at, std::min(step, bytes.size() - at));
    std::ranges::copy(piece, parser.room(piece.size()).begin());
    parser.commit(piece.size());
    for (;;) {
      const auto frame = parser.next();
      if (!frame) return 0;
      if (!*frame) break;
      (void)client.receive(**frame);
      (void)server.receive(**frame);
    }
  }
  return 0;
}
