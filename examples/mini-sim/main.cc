// forebay-mini-sim: gas dynamics on all ranks, with a checkpoint every few steps.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <mpi.h>

#include "block.h"
#include "checkpoint.h"
#include "initial.h"

namespace {

using namespace mini_sim;

constexpr const char* kUsage =
    "Usage: mpiexec -n RANKS forebay-mini-sim [OPTION...]\n"
    "A 3-D gas that writes one HDF5 file per rank and checkpoint: DIR/dump_NNNN/dump_NNNN.rankRRRR.h5\n"
    "  --out DIR    where the checkpoints go (default: .)\n"
    "  --cells N    cells per side of the cube (default: 32)\n"
    "  --steps N    time steps (default: 60)\n"
    "  --every N    steps between checkpoints (default: 20)\n"
    "  --stirred    a periodic box of gas in motion everywhere, instead of a blast wave\n"
    "  --ghosts     write the ghost zones too\n"
    "  --float      write single precision\n";

struct Options {
  int cells = 32, steps = 60, every = 20;
  bool help = false, stirred = false;
  CheckpointOptions checkpoint{.directory = "."};
};

int positive(const std::string& option, const char* text) {
  char* end = nullptr;
  const long value = text ? std::strtol(text, &end, 10) : 0;
  if (value < 1 || value > 1'000'000 || *end != '\0') throw std::invalid_argument(option + " needs a positive number");
  return static_cast<int>(value);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help")
      options.help = true;
    else if (option == "--stirred")
      options.stirred = true;
    else if (option == "--ghosts")
      options.checkpoint.ghosts = true;
    else if (option == "--float")
      options.checkpoint.single_precision = true;
    else if (option == "--cells")
      options.cells = positive(option, argv[++i]);
    else if (option == "--steps")
      options.steps = positive(option, argv[++i]);
    else if (option == "--every")
      options.every = positive(option, argv[++i]);
    else if (option == "--out" && i + 1 < argc)
      options.checkpoint.directory = argv[++i];
    else
      throw std::invalid_argument("unknown or incomplete option " + option);
  }
  return options;
}

double stable_time_step(const Block& block) {
  constexpr double kCourant = 0.4;
  double fastest = 0;
  block.for_each_cell([&](const Triple& at) { fastest = std::fmax(fastest, fastest_signal(block.cell(at))); });
  std::vector<MPI_Request> request(1);
  MPI_Iallreduce(MPI_IN_PLACE, &fastest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, request.data());
  wait_all(request);
  return kCourant / (block.global_cells() * fastest);
}

void sweep(Block& block, int axis, double dt) {
  block.exchange(axis);
  const Triple& n = block.cells();
  const int second = (axis + 1) % 3, third = (axis + 2) % 3;
  std::vector<Cell> line(n[axis] + 2 * kGhosts);
  Triple at{};
  for (at[third] = kGhosts; at[third] < n[third] + kGhosts; ++at[third])
    for (at[second] = kGhosts; at[second] < n[second] + kGhosts; ++at[second]) {
      for (size_t i = 0; i < line.size(); ++i) {
        at[axis] = static_cast<int>(i);
        line[i] = block.cell(at);
      }
      sweep_line(line, axis, dt * block.global_cells());
      for (size_t i = kGhosts; i + kGhosts < line.size(); ++i) {
        at[axis] = static_cast<int>(i);
        block.set_cell(at, line[i]);
      }
    }
}

void run(const Options& options) {
  Block block(options.cells, options.stirred);
  options.stirred ? stir(block) : explode(block);
  Moment moment;
  for (int dump = 0;; ++moment.step) {
    if (moment.step % options.every == 0) {
      for (int axis = 0; axis < 3; ++axis) block.exchange(axis);
      write_checkpoint(block, dump++, moment, options.checkpoint);
      if (block.rank() == 0) std::printf("step %4d  time %.5f  dump %d\n", moment.step, moment.time, dump - 1);
    }
    if (moment.step == options.steps) return;
    const double dt = stable_time_step(block);
    // The order of the axes turns around every step, which keeps the split scheme of second order (Strang).
    for (int i = 0; i < 3; ++i) sweep(block, moment.step % 2 == 0 ? i : 2 - i, dt);
    moment.time += dt;
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    const Options options = parse(argc, argv);
    if (options.help)
      std::fputs(kUsage, stdout);
    else
      run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "forebay-mini-sim: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
