#include "intervals.h"

#include <cstdio>
#include <stdexcept>

#include <mpi.h>

namespace mini_sim {

void write_intervals(const std::vector<double>& seconds, const std::filesystem::path& path) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int count = static_cast<int>(seconds.size());
  std::vector<double> all(rank == 0 ? seconds.size() * static_cast<size_t>(ranks) : 0);
  MPI_Gather(seconds.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + path.string());
  std::fputs("rank,interval,seconds\n", file);
  for (size_t i = 0; i < all.size(); ++i)
    std::fprintf(file, "%zu,%zu,%.9f\n", i / seconds.size(), i % seconds.size(), all[i]);
  if ((std::ferror(file) != 0) | (std::fclose(file) != 0)) throw std::runtime_error("cannot write " + path.string());
}

}  // namespace mini_sim
