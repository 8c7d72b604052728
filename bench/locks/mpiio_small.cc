// forebay-bench-mpiio-small: what small accesses cost in atomic mode, beside the same accesses without it in the same
// run. To be started with the layer preloaded and FOREBAY_MPIIO_ATOMIC=asked; with FOREBAY_MPIIO_KEEP=never every
// access asks the lock server.
//
//   mpiexec -n RANKS forebay-bench-mpiio-small own|shared|strided|alternate|computing FILE [BYTES [ACCESSES [ROUNDS]]]
//
//   own        each rank has a file of its own, which it opens alone
//   shared     one file; each rank writes a part of its own
//   strided    one file; the ranks' pieces take turns
//   alternate  one file; all ranks write the same bytes
//   computing  rank 1 keeps a file and computes, without a call; rank 0 writes to it: ACCESSES times, each to a new
//   file
//
// Rank 0 prints a line of JSON: microseconds of wall and processor time of all ranks together for each access (the
// least of all rounds) without atomic mode, in atomic mode, and with pwrite() or pread() under a lock of fcntl(), and
// messages from clients to lock servers for 10,000 accesses. Processor time includes that of the server, which is a
// thread of rank 0. For `computing` how long the writer waits, and the processor time of the thread that answers for
// rank 1.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

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

enum class How { plain, atomic, locked };

MPI_Offset offset_of(const Case& what, int i) {
  const MPI_Offset bytes = what.bytes;
  if (what.kind == "alternate") return 0;
  if (what.kind == "strided") return (static_cast<MPI_Offset>(i) * ranks + rank) * bytes;
  return (what.kind == "shared" ? rank * bytes * what.accesses : 0) + i * bytes;
}

void access_locked(int fd, MPI_Offset at, bool writes, std::vector<char>& buffer) {
  struct flock lock{};
  lock.l_type = writes ? F_WRLCK : F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = static_cast<off_t>(buffer.size());
  bool good = fcntl(fd, F_SETLKW, &lock) == 0;
  good = (writes ? pwrite(fd, buffer.data(), buffer.size(), at) : pread(fd, buffer.data(), buffer.size(), at)) ==
             static_cast<ssize_t>(buffer.size()) &&
         good;
  lock.l_type = F_UNLCK;
  if (fcntl(fd, F_SETLK, &lock) != 0 || !good) MPI_Abort(MPI_COMM_WORLD, 1);
}

void access_all(const Case& what, MPI_File file, int fd, bool writes, std::vector<char>& buffer) {
  for (int i = 0; i < what.accesses; ++i) {
    const MPI_Offset at = offset_of(what, i);
    if (fd >= 0)
      access_locked(fd, at, writes, buffer);
    else if (writes)
      MPI_File_write_at(file, at, buffer.data(), what.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    else
      MPI_File_read_at(file, at, buffer.data(), what.bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

void measure(const Case& what, How how, bool writes, Cost& least) {
  const bool own = what.kind == "own";
  const std::string name = what.file + (own ? "." + std::to_string(rank) : "");
  MPI_File file;
  check(MPI_File_open(own ? MPI_COMM_SELF : MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE,
                      MPI_INFO_NULL, &file));
  if (how == How::atomic) check(MPI_File_set_atomicity(file, 1));
  const int fd = how == How::locked ? open(name.c_str(), O_RDWR) : -1;
  std::vector<char> buffer(static_cast<size_t>(what.bytes), static_cast<char>('a' + rank));
  MPI_Barrier(MPI_COMM_WORLD);
  const double before[3] = {MPI_Wtime(), processor_seconds(), static_cast<double>(messages.load())};
  access_all(what, file, fd, writes, buffer);
  const double wall = MPI_Wtime() - before[0];
  MPI_Barrier(MPI_COMM_WORLD);  // the server's work for the others is rank 0's
  double used[3] = {wall, processor_seconds() - before[1], static_cast<double>(messages.load()) - before[2]}, all[3];
  MPI_Allreduce(used, all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double count = static_cast<double>(what.accesses) * ranks;
  least.wall = std::min(least.wall, all[0] / count);
  least.processor = std::min(least.processor, all[1] / count);
  least.messages = std::max(least.messages, all[2] / count * 10000);
  if (fd >= 0) close(fd);
  MPI_File_close(&file);
}

// Microseconds that the threads which answer recalls have run; less than 0 where there are none.
double answering() {
  double sum = -1;
  DIR* const threads = opendir("/proc/self/task");
  while (const dirent* one = threads ? readdir(threads) : nullptr) {
    const std::string path = std::string("/proc/self/task/") + one->d_name;
    char name[32] = "";
    unsigned long long nanoseconds = 0;
    if (std::FILE* file = std::fopen((path + "/comm").c_str(), "r")) {
      if (std::fscanf(file, "%31s", name) != 1) name[0] = 0;
      std::fclose(file);
    }
    if (std::string(name) != "forebay-recalls") continue;
    if (std::FILE* file = std::fopen((path + "/schedstat").c_str(), "r")) {
      if (std::fscanf(file, "%llu", &nanoseconds) == 1)
        sum = (sum < 0 ? 0 : sum) + 1e-3 * static_cast<double>(nanoseconds);
      std::fclose(file);
    }
  }
  if (threads) closedir(threads);
  return sum;
}

void compute(double seconds) {
  volatile double sum = 0;
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
    for (int i = 0; i < 1000; ++i) sum = sum + i;
}

void write_once(const std::string& name, std::vector<char>& buffer, MPI_File& file) {
  check(MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
  check(MPI_File_set_atomicity(file, 1));
  if (rank == 1)
    check(MPI_File_write_at(file, 0, buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
}

// Rank 1 computes for longer than rank 0 may take.
void measure_computing(const Case& what) {
  constexpr double kComputing = 0.02, kIdle = 7;
  std::vector<char> buffer(static_cast<size_t>(what.bytes), static_cast<char>('a' + rank));
  double waited[2] = {0, 0}, before = 0;
  for (int i = 0; i < what.accesses; ++i) {
    MPI_File file;
    const std::string name = what.file + "." + std::to_string(i);
    write_once(name, buffer, file);
    if (i == 0) before = answering();
    if (rank == 1) {
      compute(kComputing);
    } else if (rank == 0) {
      usleep(2000);
      const double began = MPI_Wtime();
      check(MPI_File_write_at(file, 0, buffer.data(), what.bytes, MPI_BYTE, MPI_STATUS_IGNORE));
      const double took = (MPI_Wtime() - began) * 1e6;
      waited[0] += took / what.accesses;
      waited[1] = std::max(waited[1], took);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
  }
  double answer = (answering() - before) / what.accesses, idle = 0;
  MPI_File file;
  write_once(what.file + ".idle", buffer, file);
  before = answering();
  if (rank == 1) compute(kIdle);
  idle = (answering() - before) / kIdle;
  if (rank == 1) {
    const double told[] = {answer, idle};
    MPI_Send(told, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  } else if (rank == 0) {
    double told[2];
    MPI_Recv(told, 2, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::printf(
        "{\"case\": \"computing\", \"ranks\": %d, \"wait_us\": %.0f, \"longest_wait_us\": %.0f, "
        "\"answer_cpu_us\": %.1f, \"idle_cpu_us_per_s\": %.1f}\n",
        ranks, waited[0], waited[1], told[0], told[1]);
  }
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
    std::fprintf(stderr,
                 "usage: forebay-bench-mpiio-small own|shared|strided|alternate|computing FILE [BYTES [ACCESSES "
                 "[ROUNDS]]]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  Case what{argv[1], argv[2]};
  if (argc > 3) what.bytes = std::atoi(argv[3]);
  if (argc > 4) what.accesses = std::atoi(argv[4]);
  if (argc > 5) what.rounds = std::atoi(argv[5]);
  if (what.kind == "computing") {
    measure_computing(what);
    MPI_Finalize();
    return 0;
  }
  for (const bool writes : {true, false}) {
    Cost plain, atomic, locked;
    for (int round = 0; round < what.rounds; ++round) {
      measure(what, How::plain, writes, plain);
      measure(what, How::atomic, writes, atomic);
      measure(what, How::locked, writes, locked);
    }
    if (rank == 0)
      std::printf(
          "{\"case\": \"%s\", \"ranks\": %d, \"bytes\": %d, \"access\": \"%s\", \"plain_us\": %.3f, \"atomic_us\": "
          "%.3f, "
          "\"plain_cpu_us\": %.3f, \"atomic_cpu_us\": %.3f, \"fcntl_cpu_us\": %.3f, \"cpu_ratio\": %.2f, "
          "\"fcntl_ratio\": %.2f, \"messages_per_10000\": %.0f}\n",
          what.kind.c_str(), ranks, what.bytes, writes ? "write" : "read", plain.wall * 1e6, atomic.wall * 1e6,
          plain.processor * 1e6, atomic.processor * 1e6, locked.processor * 1e6, atomic.processor / plain.processor,
          locked.processor / plain.processor, atomic.messages);
  }
  MPI_Finalize();
}
