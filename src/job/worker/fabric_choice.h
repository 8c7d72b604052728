// Which transport a worker's bytes take (decision 0019, "Bytes by three transports").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace forebay::job {

enum class FabricChoice : uint8_t {
  automatic,  // node on the same node, else stream
  node,       // on the same node, or not at all
  stream,
  ucx,
};

// "auto", "node", "stream" or "ucx".
std::optional<FabricChoice> parse_fabric_choice(std::string_view name);

}  // namespace forebay::job
