// Constants of the wire that all of Forebay's connections share (docs/wire.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::fabric {

// In every frame. Grows with each change that an older peer would misunderstand.
inline constexpr uint8_t kProtocolVersion = 2;

// Frame types up to this belong to the handshake; those above, to what is spoken after it.
inline constexpr uint8_t kLastHandshakeType = 15;

}  // namespace forebay::fabric
