// What lies where in a stage (docs/wire.md, "Stage"): shared by the agent and the application's library. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forebay::job {

// Everything of Forebay's own in a stage is below this directory; the rest is the application's.
inline constexpr std::string_view kOwnDirectory = ".forebay";

// STAGE/.forebay/agent.sock
std::string agent_socket(std::string_view stage);

// STAGE/.forebay/secret: what a program shows to the agent, if it is there (fabric/credentials.h).
std::string secret_path(std::string_view stage);

// STAGE/.forebay/sets/SET: what is known about a set.
std::string notes_path(std::string_view stage, std::string_view set);

// STAGE/.forebay/sets/SET/rank-RANK: the marker that this rank's files of the set are complete.
std::string marker_path(std::string_view stage, std::string_view set, uint32_t rank);

// The rank of a marker, from the last component of its path; nothing for other files.
std::optional<uint32_t> marker_rank(std::string_view file);

}  // namespace forebay::job
