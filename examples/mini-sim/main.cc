// forebay-mini-sim: gas dynamics on all ranks, with a checkpoint every few steps.
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <hdf5.h>
#include <mpi.h>

#include "block.h"
#include "checkpoint.h"
#include "gas.h"
#include "initial.h"
#include "intervals.h"
#include "options.h"
#include "particles.h"
#include "staging.h"
#include "work.h"

namespace {

using namespace mini_sim;
namespace fs = std::filesystem;

// Thrown on all ranks at once, which therefore end in order. Has its text on the rank that is to print it.
class CommonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Simulation {
 public:
  explicit Simulation(const Options& options)
      : options_(options),
        block_(options.cells, options.problem == Problem::stirred),
        staging_(Staging::connect(block_.rank(), block_.ranks())) {}

  void run() {
    const fs::path newest = where_to_resume();
    newest.empty() ? start() : resume(newest);
    const int64_t units = options_.work_seconds > 0 ? units_for(options_.work_seconds) : options_.work_units;
    if (units > 0) say("work units per interval: %lld\n", static_cast<long long>(units));
    std::vector<double> intervals;
    while (moment_.step < options_.steps) {
      intervals.push_back(compute(units));
      ++moment_.dump;
      checkpoint();
    }
    if (!options_.intervals.empty()) write_intervals(intervals, options_.intervals);
  }

 private:
  template <class... Values>
  void say(const char* format, Values... values) const {
    if (block_.rank() != 0) return;
    std::printf(format, values...);
    std::fflush(stdout);
  }

  // This rank's file; empty to begin from the start.
  fs::path where_to_resume() {
    const std::string file = file_name(block_.rank());
    if (!options_.restart.empty()) return options_.restart / file;
    return staging_ ? staging_->newest(file) : fs::path();
  }

  void start() {
    switch (options_.problem) {
      case Problem::blast:
        explode(block_);
        break;
      case Problem::sedov:
        explode_at_a_point(block_);
        break;
      case Problem::stirred:
        stir(block_);
        break;
    }
    particles_ = scatter(block_, options_.checkpoint.particles);
    checkpoint();
  }

  void resume(const fs::path& path) {
    std::string error;
    try {
      moment_ = read_checkpoint(path, block_, particles_, options_.checkpoint);
    } catch (const std::runtime_error& wrong) {
      error = wrong.what();
    }
    fail_together(error);
    int steps[] = {moment_.step, -moment_.step};
    MPI_Allreduce(MPI_IN_PLACE, steps, 2, MPI_INT, MPI_MAX, block_.cube());
    fail_together(steps[0] == -steps[1] ? "" : "cannot resume: the files of the checkpoint are of different steps");
    if (staging_) staging_->loaded();
    say("resumes from dump %d\n", moment_.dump);
  }

  // What is wrong on one rank is an error of all; the first of these ranks tells it.
  void fail_together(const std::string& error) const {
    int first = error.empty() ? block_.ranks() : block_.rank();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, block_.cube());
    if (first < block_.ranks()) throw CommonError(first == block_.rank() ? error : "");
  }

  // On to the next checkpoint. Returns how long the part that is measured took.
  double compute(int64_t units) {
    const double start = MPI_Wtime();
    do {
      const double dt = stable_time_step(block_);
      carry(particles_, block_, dt);
      advance(block_, moment_.step, dt);
      moment_.time += dt;
    } while (++moment_.step < options_.steps && moment_.step % options_.every != 0);
    const double middle = MPI_Wtime();
    if (units == 0) return middle - start;
    work(units);
    return MPI_Wtime() - middle;
  }

  void checkpoint() {
    for (int axis = 0; axis < 3; ++axis) block_.exchange(axis);
    staging_ ? stage() : write_out();
    say("step %4d  time %.5f  dump %d\n", moment_.step, moment_.time, moment_.dump);
  }

  void stage() {
    const std::string set = set_name(moment_.dump);
    write_checkpoint(staging_->begin(set, moment_.step, file_name(block_.rank())), block_, particles_, moment_,
                     options_.checkpoint);
    staging_->complete();
    if (options_.durable) staging_->wait(set);
  }

  void write_out() {
    const fs::path directory = options_.out / set_name(moment_.dump), name = file_name(block_.rank());
    const fs::path unfinished = directory / ("." + name.string() + ".tmp");
    fs::create_directories(directory);
    write_checkpoint(unfinished, block_, particles_, moment_, options_.checkpoint);
    fs::rename(unfinished, directory / name);
  }

  const Options& options_;
  Block block_;
  std::unique_ptr<Staging> staging_;  // null: checkpoints go to --out
  Particles particles_;
  Moment moment_;
};

void print(const char* error) { std::fprintf(stderr, "forebay-mini-sim: %s\n", error); }

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its errors become exceptions
  int rank = 0, status = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    const Options options = parse(argc, argv);
    if (options.help) {
      if (rank == 0) std::fputs(kUsage, stdout);
    } else {
      Simulation(options).run();
    }
    status = 0;
  } catch (const std::invalid_argument& error) {  // of the command line, which all ranks have
    if (rank == 0) print(error.what());
  } catch (const CommonError& error) {
    if (error.what()[0] != '\0') print(error.what());
  } catch (const std::exception& error) {
    print(error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
