// Rank 0 writes while the others read the same bytes: in atomic mode a reader finds all of a write or nothing of it.
// Contiguous, noncontiguous in the file, and noncontiguous in both; blocking and nonblocking; several rounds.
#include "access.h"

enum { kInts = 10000, kRounds = 12 };

static int values[2 * kInts];

// What is in memory is every second int if `spread`.
static MPI_Datatype memory_type(int spread) {
  MPI_Datatype type;
  if (spread)
    MPI_Type_vector(kInts, 1, 2, MPI_INT, &type);
  else
    MPI_Type_contiguous(kInts, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void check_values(const char* what, int spread, int last_round) {
  const int step = spread ? 2 : 1;
  const int first = values[0];
  EXPECT(first >= 0 && first <= last_round, "%s: %d was never written", what, first);
  for (int i = 1; i < kInts; ++i) {
    if (values[i * step] == first) continue;
    EXPECT(0, "%s: value %d is %d after %d: torn", what, i, values[i * step], first);
    return;
  }
}

static void rounds(const char* what, int spread_in_file, int spread_in_memory, int kind) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ind_rd_buffer_size", "1209");
  MPI_Info_set(info, "ind_wr_buffer_size", "1107");
  check_remove("");
  MPI_File file = check_open_info(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  OK(MPI_File_set_atomicity(file, 1));
  int atomic = 0;
  OK(MPI_File_get_atomicity(file, &atomic));
  EXPECT(atomic, "atomic mode was set");
  MPI_Datatype filetype = memory_type(spread_in_file);
  MPI_Datatype memory = memory_type(spread_in_memory);
  OK(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", info));
  memset(values, 0, sizeof values);
  if (check_rank == 0) OK(MPI_File_write_at(file, 0, values, 1, memory, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int round = 1; round <= kRounds; ++round) {
    MPI_Status status;
    if (check_rank == 0) {
      for (int i = 0; i < 2 * kInts; ++i) values[i] = round;
      OK(access_write(file, kind, 0, values, 1, memory, &status));
    } else {
      for (int i = 0; i < 2 * kInts; ++i) values[i] = -1;
      OK(access_read(file, kind, 0, values, 1, memory, &status));
      EXPECT_EQ(check_count(&status, MPI_INT), kInts);
      check_values(what, spread_in_memory, kRounds);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(access_read(file, kind, 0, values, 1, memory, MPI_STATUS_IGNORE));
  EXPECT(values[0] == kRounds, "%s: the last write is not seen: %d", what, values[0]);
  OK(MPI_File_close(&file));
  MPI_Type_free(&filetype);
  MPI_Type_free(&memory);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  check_needs_ranks(2);
  for (int kind = 0; kind < access_independent_kinds; ++kind) {
    rounds("contiguous", 0, 0, kind);
    rounds("noncontiguous in the file", 1, 0, kind);
    rounds("noncontiguous in memory", 0, 1, kind);
    rounds("noncontiguous in both", 1, 1, kind);
  }
  return check_end();
}
