// forebay-bench-mpiio-small: what small accesses cost in atomic mode, beside the same accesses without it in the same
// run. To be started with the layer preloaded and FOREBAY_MPIIO_ATOMIC=asked; with FOREBAY_MPIIO_KEEP=never every
// access asks the lock server.
//
//   mpiexec -n RANKS forebay-bench-mpiio-small own|shared|alternate FILE [BYTES [ACCESSES [ROUNDS]]]
//
//   own        each rank has a file of its own, which it opens alone
//   shared     one file; each rank writes a part of its own
//   alternate  one file; all ranks write the same bytes
//
// Rank 0 prints a line of JSON: seconds of wall and processor time of all ranks together for each access (the least of
// all rounds), and messages from clients to lock servers for 10,000 accesses. Processor time includes that of the
// server, which is a thread of rank 0.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace {

std::atomic<long> messages{0};
int rank = 0, ranks = 1;

void check(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "forebay-bench-mpiio-small: rank %d: %s\n", rank, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

double processor_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Cost {
  double wall = std::numeric_limits<double>::max(), processor = std::numeric_limits<double>::max(), messages = 0;
};

struct Case {
  std::string kind, file;
  int bytes = 1024, accesses = 10000, rounds = 5;
};

void access_all(const Case& what, MPI_File file, bool writes, std::vector<char>& buffer) {
  const MPI_Offset part = static_cast<MPI_Offset>(what.bytes) * what.accesses;
  const MPI_Offset begin = what.kind == "shared" ? rank * part : 0;
  for (int i = 0; i < what.accesses; ++i) {
    const MPI_Offset at = what.kind == "alternate" ? 0 : begin + static_cast<MPI_Offset>(i) * what.bytes;
    if (writes)
      MPI_File_write_at(file, at, buffer.data(), what.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    else
      MPI_File_read_at(file, at, buffer.data(), what.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

void measure(const Case& what, bool atomic, bool writes, Cost& least) {
  const bool own = what.kind == "own";
  const std::string name = what.file + (own ? "." + std::to_string(rank) : "");
  MPI_File file;
  check(MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                      MPI_INFO_NULL, &file));
  if (atomic) check(MPI_File_set_atomicity(file, 1));
  std::vector<char> buffer(static_cast<size_t>(what.bytes), static_cast<char>('a' + rank));
  MPI_Barrier(MPI_COMM_WORLD);
  const double before[3] = {MPI_Wtime(), processor_seconds(), static_cast<double>(messages.load())};
  access_all(what, file, writes, buffer);
  const double wall = MPI_Wtime() - before[0];
  MPI_Barrier(MPI_COMM_WORLD);  // the server's work for the others is rank 0's
  double used[3] = {wall, processor_seconds() - before[1], static_cast<double>(messages.load()) - before[2]}, all[3];
  MPI_Allreduce(used, all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double count = static_cast<double>(what.accesses) * ranks;
  least.wall = std::min(least.wall, all[0] / count);
  least.processor = std::min(least.processor, all[1] / count);
  least.messages = std::max(least.messages, all[2] / count * 10000);
  MPI_File_close(&file);
}

}  // namespace

// The layer's clients send by this one.
extern "C" ssize_t send(int fd, const void* data, size_t size, int flags) {
  static const auto next = reinterpret_cast<ssize_t (*)(int, const void*, size_t, int)>(dlsym(RTLD_NEXT, "send"));
  messages.fetch_add(1, std::memory_order_relaxed);
  return next(fd, data, size, flags);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) {
    std::fprintf(stderr, "usage: forebay-bench-mpiio-small own|shared|alternate FILE [BYTES [ACCESSES [ROUNDS]]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Case what{argv[1], argv[2]};
  if (argc > 3) what.bytes = std::atoi(argv[3]);
  if (argc > 4) what.accesses = std::atoi(argv[4]);
  if (argc > 5) what.rounds = std::atoi(argv[5]);
  for (const bool writes : {true, false}) {
    Cost plain, atomic;
    for (int round = 0; round < what.rounds; ++round) {
      measure(what, false, writes, plain);
      measure(what, true, writes, atomic);
    }
    if (rank == 0)
      std::printf(
          "{\"case\": \"%s\", \"ranks\": %d, \"bytes\": %d, \"access\": \"%s\", \"plain_us\": %.3f, \"atomic_us\": "
          "%.3f, "
          "\"plain_cpu_us\": %.3f, \"atomic_cpu_us\": %.3f, \"cpu_ratio\": %.2f, \"messages_per_10000\": %.0f}\n",
          what.kind.c_str(), ranks, what.bytes, writes ? "write" : "read", plain.wall * 1e6, atomic.wall * 1e6,
          plain.processor * 1e6, atomic.processor * 1e6, atomic.processor / plain.processor, atomic.messages);
  }
  MPI_Finalize();
}
