#include "job/client/stage_names.h"

#include <fmt/format.h>

namespace forebay::job {

std::string agent_socket(std::string_view stage) { return fmt::format("{}/{}/agent.sock", stage, kOwnDirectory); }

std::string marker_path(std::string_view stage, std::string_view set, uint32_t rank) {
  return fmt::format("{}/{}/sets/{}/rank-{:08}", stage, kOwnDirectory, set, rank);
}

}  // namespace forebay::job
