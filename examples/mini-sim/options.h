// What the command line says.
#pragma once

#include <cstdint>
#include <filesystem>

#include "checkpoint.h"

namespace mini_sim {

enum class Problem : unsigned char { blast, sedov, stirred };

struct Options {
  bool help = false, durable = false;
  int cells = 32, steps = 60, every = 20;
  Problem problem = Problem::blast;
  double work_seconds = 0;  // per interval; 0: none
  int64_t work_units = 0;   // likewise
  std::filesystem::path out = ".";
  std::filesystem::path restart;    // a set's directory, or empty
  std::filesystem::path intervals;  // a table, or empty
  CheckpointOptions checkpoint{.particles = 1000};
};

extern const char* const kUsage;

// Throws std::invalid_argument.
Options parse(int argc, char** argv);

}  // namespace mini_sim
