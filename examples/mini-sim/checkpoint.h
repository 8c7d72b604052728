// Writes checkpoints: one HDF5 file per rank.
#pragma once

#include <filesystem>

#include "block.h"

namespace mini_sim {

struct CheckpointOptions {
  std::filesystem::path directory;
  bool ghosts = false;  // write the ghost zones too, as many codes do
  bool single_precision = false;
};

struct Moment {
  int step = 0;
  double time = 0;
};

// Writes DIRECTORY/dump_NNNN/dump_NNNN.rankRRRR.h5 with the fields in the group /BlockRRRRRRRR. The file has its final
// name only when it is complete. Throws std::runtime_error.
void write_checkpoint(const Block& block, int dump, const Moment& moment, const CheckpointOptions& options);

}  // namespace mini_sim
