// forebay-bench-mpiio: the three workloads of paper 004, section 4, through MPI-IO alone, for bench/mpiio to run with
// and without the layer. Rank 0 prints a line of JSON for each access: {"phase": "write", "seconds": S, "bytes": B},
// where the seconds go from the moment the first rank begins to the moment all are done. What is read is compared.
//
//   mpiexec -n RANKS forebay-bench-mpiio block|flash|tile FILE [--atomic] [--collective] [--repeat N] [--size N]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>

namespace {

struct Options {
  std::string workload, file;
  bool atomic = false, collective = false;
  int repeat = 3;
  int size = 0;  // block: elements along an edge; tile: frames
};

int rank = 0, ranks = 1;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "forebay-bench-mpiio: rank %d: %s\n", rank, what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  die(std::string(call) + ": " + text);
}

// What one rank moves: `count` of `memory_type` at `buffer`, seen in the file through `file_type` at `displacement`.
struct Access {
  void* buffer = nullptr;
  int count = 1;
  MPI_Datatype memory_type = MPI_BYTE, element = MPI_BYTE, file_type = MPI_BYTE;
  MPI_Offset displacement = 0;
};

MPI_File open_file(const Options& options, const std::string& name, int mode, const Access& access) {
  MPI_File file;
  check(MPI_File_open(MPI_COMM_WORLD, name.c_str(), mode, MPI_INFO_NULL, &file), "MPI_File_open");
  check(MPI_File_set_view(file, access.displacement, access.element, access.file_type, "native", MPI_INFO_NULL),
        "MPI_File_set_view");
  if (options.atomic) check(MPI_File_set_atomicity(file, 1), "MPI_File_set_atomicity");
  return file;
}

// From the first rank's start to the last one's end: all ranks are on one machine and have one clock. (The longest of
// the ranks' own times would leave out what ranks that share a core wait for each other before they begin.)
void report(const char* phase, double began, long long bytes) {
  double ended = MPI_Wtime();
  MPI_Allreduce(MPI_IN_PLACE, &began, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &ended, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const double seconds = ended - began;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("{\"phase\": \"%s\", \"seconds\": %.6f, \"bytes\": %lld}\n", phase, seconds, bytes);
  std::fflush(stdout);
}

long long bytes_of(const Access& access) {
  MPI_Count size = 0;
  MPI_Type_size_x(access.memory_type, &size);
  return size * access.count;
}

void write_once(const Options& options, MPI_File file, const Access& access) {
  const auto call = options.collective ? MPI_File_write_at_all : MPI_File_write_at;
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  check(call(file, 0, access.buffer, access.count, access.memory_type, MPI_STATUS_IGNORE), "MPI_File_write_at");
  report("write", began, bytes_of(access));
}

void read_once(const Options& options, MPI_File file, const Access& access) {
  const auto call = options.collective ? MPI_File_read_at_all : MPI_File_read_at;
  MPI_Status status;
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  check(call(file, 0, access.buffer, access.count, access.memory_type, &status), "MPI_File_read_at");
  report("read", began, bytes_of(access));
  int got = 0;
  MPI_Get_count(&status, access.memory_type, &got);
  if (got != access.count) die("a read came back short");
}

// Writes and reads back `repeat` times, with other values each time; `fill` puts values for a round into the buffer and
// `matches` tells whether it holds them.
void write_and_read(const Options& options, const Access& access, const std::function<void(int)>& fill,
                    const std::function<bool(int)>& matches) {
  if (rank == 0) MPI_File_delete(options.file.c_str(), MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file = open_file(options, options.file, MPI_MODE_CREATE | MPI_MODE_RDWR, access);
  for (int round = 0; round < options.repeat; ++round) {
    fill(round);
    write_once(options, file, access);
    fill(-1);
    read_once(options, file, access);
    if (!matches(round)) die("other bytes were read than were written");
  }
  MPI_File_close(&file);
  if (rank == 0) MPI_File_delete(options.file.c_str(), MPI_INFO_NULL);
}

// A cube of integers, distributed by blocks over a grid of ranks (section 4.2; the pattern of ROMIO's coll_perf).
void block(const Options& options) {
  const int edge = options.size ? options.size : 100;
  int grid[3] = {0, 0, 0};
  MPI_Dims_create(ranks, 3, grid);
  const int sizes[3] = {edge, edge, edge};
  const int kinds[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int defaults[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  Access access{.memory_type = MPI_INT, .element = MPI_INT};
  MPI_Type_create_darray(ranks, rank, 3, sizes, kinds, defaults, grid, MPI_ORDER_C, MPI_INT, &access.file_type);
  MPI_Type_commit(&access.file_type);
  int bytes = 0;
  MPI_Type_size(access.file_type, &bytes);
  std::vector<int> cells(bytes / sizeof(int));
  access.buffer = cells.data();
  access.count = static_cast<int>(cells.size());
  const auto value = [](int round, size_t i) {
    return round < 0 ? -1 : static_cast<int>(i * 31 + rank * 7919 + round);
  };
  write_and_read(
      options, access,
      [&](int round) {
        for (size_t i = 0; i < cells.size(); ++i) cells[i] = value(round, i);
      },
      [&](int round) {
        for (size_t i = 0; i < cells.size(); ++i)
          if (cells[i] != value(round, i)) return false;
        return true;
      });
  MPI_Type_free(&access.file_type);
}

// The checkpoint of FLASH (section 4.3): in memory 80 blocks a rank, each 8^3 cells with 4 guard cells around and 24
// variables a cell; in the file all blocks of variable 0, then of variable 1 and so on, block by block over the ranks.
// So each rank has 1,920 pieces of 4 KiB in the file, and almost a million of 8 bytes in memory.
void flash(const Options& options) {
  constexpr int kBlocks = 80, kVariables = 24, kCells = 8, kGuard = 4, kEdge = kCells + 2 * kGuard;
  constexpr int kBlockCells = kCells * kCells * kCells;
  constexpr MPI_Aint kBlockBytes = MPI_Aint{kEdge} * kEdge * kEdge * kVariables * MPI_Aint{sizeof(double)};

  const int whole[4] = {kEdge, kEdge, kEdge, kVariables};
  const int inner[4] = {kCells, kCells, kCells, 1}, start[4] = {kGuard, kGuard, kGuard, 0};
  MPI_Datatype one_block, all_blocks;
  Access access{.element = MPI_DOUBLE};
  MPI_Type_create_subarray(4, whole, inner, start, MPI_ORDER_C, MPI_DOUBLE, &one_block);
  MPI_Type_create_hvector(kBlocks, 1, kBlockBytes, one_block, &all_blocks);
  MPI_Type_create_hvector(kVariables, 1, sizeof(double), all_blocks, &access.memory_type);
  MPI_Type_commit(&access.memory_type);
  MPI_Type_vector(kVariables * kBlocks, kBlockCells, kBlockCells * ranks, MPI_DOUBLE, &access.file_type);
  MPI_Type_commit(&access.file_type);
  access.displacement = MPI_Offset{rank} * kBlockCells * MPI_Offset{sizeof(double)};

  const size_t total = size_t{kBlocks} * kBlockBytes / sizeof(double);
  std::vector<double> cells(total);
  access.buffer = cells.data();
  const auto is_inner = [](size_t i) {
    const size_t cell = i / kVariables;
    const auto inside = [](size_t at) { return at >= kGuard && at < kGuard + kCells; };
    return inside(cell % kEdge) && inside(cell / kEdge % kEdge) && inside(cell / kEdge / kEdge % kEdge);
  };
  const auto value = [](int round, size_t i) {
    return round < 0 ? -1.0 : static_cast<double>(i) + rank * 0.25 + round;
  };
  write_and_read(
      options, access,
      [&](int round) {
        for (size_t i = 0; i < total; ++i) cells[i] = value(round, i);
      },
      [&](int round) {  // the guard cells keep what fill(-1) put there
        for (size_t i = 0; i < total; ++i)
          if (cells[i] != value(is_inner(i) ? round : -1, i)) return false;
        return true;
      });
  for (MPI_Datatype* type : {&one_block, &all_blocks, &access.memory_type, &access.file_type}) MPI_Type_free(type);
}

// Frames for a wall of displays (section 4.4): each rank reads what its own display shows, 1024 x 768 pixels of 24
// bits, with overlaps of 270 and 128 pixels. Frame files are written first, by rank 0 alone and not timed.
struct Wall {
  static constexpr int kWidth = 1024, kHeight = 768, kPixel = 3, kAcross = 270, kDown = 128;
  int columns = 1, rows = 1;
  int row_bytes() const { return (columns * kWidth - (columns - 1) * kAcross) * kPixel; }
  int height() const { return rows * kHeight - (rows - 1) * kDown; }
};

unsigned char pixel(long long at, int frame) { return static_cast<unsigned char>(at * 131 + (at >> 11) + frame * 17); }

void write_frame(const std::string& name, const Wall& wall, int frame) {
  std::vector<unsigned char> bytes(static_cast<size_t>(wall.row_bytes()) * wall.height());
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = pixel(static_cast<long long>(i), frame);
  std::FILE* out = std::fopen(name.c_str(), "wb");
  if (!out || std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size() || std::fclose(out) != 0)
    die("cannot write " + name);
}

void tile(const Options& options) {
  int grid[2] = {0, 0};
  MPI_Dims_create(ranks, 2, grid);
  const Wall wall{.columns = grid[0], .rows = grid[1]};
  const int frames = options.size ? options.size : 100;
  const int column = rank % wall.columns, row = rank / wall.columns;
  const int whole[2] = {wall.height(), wall.row_bytes()}, part[2] = {Wall::kHeight, Wall::kWidth * Wall::kPixel};
  const int start[2] = {row * (Wall::kHeight - Wall::kDown), column * (Wall::kWidth - Wall::kAcross) * Wall::kPixel};
  Access access{.count = part[0] * part[1]};
  MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_BYTE, &access.file_type);
  MPI_Type_commit(&access.file_type);
  std::vector<unsigned char> screen(static_cast<size_t>(access.count));
  access.buffer = screen.data();

  for (int frame = 0; frame < frames; ++frame) {
    const std::string name = options.file + "." + std::to_string(frame % 4);  // four frames, again and again
    if (rank == 0 && frame < 4) write_frame(name, wall, frame % 4);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_file(options, name, MPI_MODE_RDONLY, access);
    read_once(options, file, access);
    MPI_File_close(&file);
    for (int y = 0; y < part[0]; y += 97)
      for (int x = 0; x < part[1]; x += 61)
        if (screen[static_cast<size_t>(y) * part[1] + x] !=
            pixel(static_cast<long long>(start[0] + y) * whole[1] + start[1] + x, frame % 4))
          die("other bytes were read than were written");
  }
  if (rank == 0)
    for (int frame = 0; frame < 4 && frame < frames; ++frame)
      std::remove((options.file + "." + std::to_string(frame)).c_str());
  MPI_Type_free(&access.file_type);
}

Options parse(int argc, char** argv) {
  if (argc < 3) die("usage: block|flash|tile FILE [--atomic] [--collective] [--repeat N] [--size N]");
  Options options{.workload = argv[1], .file = argv[2]};
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--atomic")
      options.atomic = true;
    else if (word == "--collective")
      options.collective = true;
    else if (word == "--repeat" && i + 1 < argc)
      options.repeat = std::atoi(argv[++i]);
    else if (word == "--size" && i + 1 < argc)
      options.size = std::atoi(argv[++i]);
    else
      die("'" + word + "' is not an option");
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Options options = parse(argc, argv);
  if (options.workload == "block")
    block(options);
  else if (options.workload == "flash")
    flash(options);
  else if (options.workload == "tile")
    tile(options);
  else
    die("'" + options.workload + "' is not a workload");
  MPI_Finalize();
}
