#include "job/client/stage_names.h"

#include <charconv>

#include <fmt/format.h>

namespace forebay::job {

std::string agent_socket(std::string_view stage) { return fmt::format("{}/{}/agent.sock", stage, kOwnDirectory); }

std::string secret_path(std::string_view stage) { return fmt::format("{}/{}/secret", stage, kOwnDirectory); }

std::string notes_path(std::string_view stage, std::string_view set) {
  return fmt::format("{}/{}/sets/{}", stage, kOwnDirectory, set);
}

std::string marker_path(std::string_view stage, std::string_view set, uint32_t rank) {
  return fmt::format("{}/rank-{:08}", notes_path(stage, set), rank);
}

std::optional<uint32_t> marker_rank(std::string_view file) {
  constexpr std::string_view kPrefix = "rank-";
  if (!file.starts_with(kPrefix)) return std::nullopt;
  uint32_t rank = 0;
  const char* end = file.data() + file.size();
  const auto [stopped, error] = std::from_chars(file.data() + kPrefix.size(), end, rank);
  if (error != std::errc{} || stopped != end || file != fmt::format("rank-{:08}", rank)) return std::nullopt;
  return rank;
}

}  // namespace forebay::job
