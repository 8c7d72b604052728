// What lies where in a stage (docs/wire.md, "Stage"): shared by the agent and the application's library. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::job {

// Everything of Forebay's own in a stage is below this directory; the rest is the application's.
inline constexpr std::string_view kOwnDirectory = ".forebay";

// STAGE/.forebay/agent.sock
std::string agent_socket(std::string_view stage);

// STAGE/.forebay/sets/SET/rank-RANK: the marker that this rank's files of the set are complete.
std::string marker_path(std::string_view stage, std::string_view set, uint32_t rank);

}  // namespace forebay::job
