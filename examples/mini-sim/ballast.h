// Data that make a checkpoint larger than the gas does.
#pragma once

#include <cstdint>
#include <vector>

namespace mini_sim {

inline constexpr int64_t kBallastPart = 1 << 20;  // values of one dataset, at most

// One dataset of the dump: a smooth wave with a little noise on it, always the same for the same arguments.
std::vector<double> make_ballast(int rank, int dump, int part, int64_t size);

}  // namespace mini_sim
