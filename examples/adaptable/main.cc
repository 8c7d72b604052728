// forebay-mini-adios: the gas of forebay-mini-sim, written through adios.h. What becomes of it says the XML file alone:
// nothing here knows which method writes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <adios.h>
#include <mpi.h>

#include "block.h"
#include "gas.h"
#include "initial.h"

namespace {

using namespace mini_sim;

constexpr const char* kFieldNames[kFields] = {"Density",     "MomentumX",     "MomentumY",     "MomentumZ",
                                              "TotalEnergy", "EjectaDensity", "AmbientDensity"};

void check(int status) {
  if (status == 0) return;
  std::fprintf(stderr, "forebay-mini-adios: %s\n", adios_get_last_errmsg());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// One step of the file: the first makes it, the others are appended.
void write(const Block& block, const char* path, int step, double time) {
  int64_t file = 0;
  uint64_t total = 0;
  const Triple& cells = block.cells();
  const Triple& first = block.first();
  const int side = block.global_cells();
  check(adios_open(&file, "gas", path, step == 0 ? "w" : "a", block.cube()));
  check(adios_group_size(
      file, 8 * sizeof(int) + sizeof(double) + kFields * sizeof(double) * cells[0] * cells[1] * cells[2], &total));
  check(adios_write(file, "step", &step));
  check(adios_write(file, "time", &time));
  check(adios_write(file, "side", &side));
  const char* const counts[] = {"nx", "ny", "nz"};
  const char* const offsets[] = {"ox", "oy", "oz"};
  for (int axis = 0; axis < 3; ++axis) {
    check(adios_write(file, counts[axis], &cells[axis]));
    check(adios_write(file, offsets[axis], &first[axis]));
  }
  for (int f = 0; f < kFields; ++f) {
    const std::vector<double> values = block.field(f, 0);
    check(adios_write(file, kFieldNames[f], values.data()));
  }
  check(adios_close(file));
}

void run(const char* config, const char* path, int side, int steps, int every) {
  check(adios_init(config, MPI_COMM_WORLD));
  Block block(side, false);
  explode_at_a_point(block);
  double time = 0, writing = 0;
  for (int step = 0; step <= steps; ++step) {
    if (step % every == 0) {
      const double start = MPI_Wtime();
      write(block, path, step, time);
      writing += MPI_Wtime() - start;
    }
    adios_start_calculation();
    const double dt = stable_time_step(block);
    advance(block, step, dt);
    time += dt;
    adios_stop_calculation();
    adios_end_iteration();
  }
  const double start = MPI_Wtime();
  check(adios_finalize(block.rank()));
  if (block.rank() == 0)
    std::printf("%d steps written: %.3f s between open and close, %.3f s to finalize\n", steps / every + 1, writing,
                MPI_Wtime() - start);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fputs("Usage: forebay-mini-adios CONFIG.xml FILE CELLS_PER_SIDE STEPS EVERY\n", stderr);
    return 2;
  }
  MPI_Init(&argc, &argv);
  run(argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]), std::max(1, std::atoi(argv[5])));
  MPI_Finalize();
  return 0;
}
