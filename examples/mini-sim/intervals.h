// How long each compute interval took on each rank.
#pragma once

#include <filesystem>
#include <vector>

namespace mini_sim {

// Rank 0 writes them as a table "rank,interval,seconds" with a line for each. All ranks have equally many. Collective.
// Throws std::runtime_error.
void write_intervals(const std::vector<double>& seconds, const std::filesystem::path& path);

}  // namespace mini_sim
