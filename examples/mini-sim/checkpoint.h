// Checkpoints: one HDF5 file per rank.
#pragma once

#include <filesystem>

#include "block.h"
#include "particles.h"

namespace mini_sim {

struct Moment {
  int step = 0;
  double time = 0;
  int dump = 0;  // number of the checkpoint
};

// How checkpoints are written, and what must be the same in the run that resumes from them.
struct CheckpointOptions {
  bool ghosts = false;  // write the ghost zones too, as many codes do
  bool single_precision = false;
  int64_t particles = 0;  // of the whole cube, at first
  int64_t ballast = 0;    // values per rank (ballast.h)
};

// "dump_0003" and "rank0007.h5".
std::string set_name(int dump);
std::string file_name(int rank);

// The fields in the group /BlockRRRRRRRR, the particles and the ballast in groups below it. Throws std::runtime_error.
void write_checkpoint(const std::filesystem::path& path, const Block& block, const Particles& particles,
                      const Moment& moment, const CheckpointOptions& options);

// The moment of the checkpoint at `path`; fills the block, but not its ghosts, and the particles. Throws
// std::runtime_error if it is damaged, or not of this rank of such a run.
Moment read_checkpoint(const std::filesystem::path& path, Block& block, Particles& particles,
                       const CheckpointOptions& options);

}  // namespace mini_sim
