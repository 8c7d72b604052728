// What the standard promises without atomic mode: after sync, barrier, sync a rank sees what others wrote; after
// closing, so do those that open the file then. In atomic mode a barrier alone is enough, and so is any message.
#include "check.h"

enum { kInts = 5000, kRounds = 10 };

static int data[kInts], found[kInts];

static void round_of(MPI_File file, int round, int atomic) {
  const int writer = round % check_ranks;
  for (int i = 0; i < kInts; ++i) data[i] = round * kInts + i;
  if (check_rank == writer) OK(MPI_File_write_at(file, 3, data, kInts, MPI_INT, MPI_STATUS_IGNORE));
  if (atomic)
    MPI_Barrier(MPI_COMM_WORLD);
  else
    check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_read_at(file, 3, found, kInts, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_SAME(atomic ? "after a barrier" : "after sync, barrier, sync", found, data, sizeof data);
  MPI_Barrier(MPI_COMM_WORLD);
}

// One rank tells the next that it wrote.
static void chain(MPI_File file) {
  int last = -1;
  if (check_rank > 0) {
    MPI_Recv(NULL, 0, MPI_INT, check_rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_File_read_at(file, 0, &last, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_EQ(last, check_rank - 1);
  }
  OK(MPI_File_write_at(file, 0, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  if (check_rank + 1 < check_ranks) MPI_Send(NULL, 0, MPI_INT, check_rank + 1, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Datatype type;
  MPI_Type_vector(100, 2, 3, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 2, MPI_INT, type, "native", MPI_INFO_NULL));
  for (int round = 0; round < kRounds; ++round) round_of(file, round, 0);
  OK(MPI_File_set_atomicity(file, 1));
  for (int round = kRounds; round < 2 * kRounds; ++round) round_of(file, round, 1);
  chain(file);
  OK(MPI_File_set_atomicity(file, 0));
  round_of(file, 2 * kRounds, 0);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  file = check_open(MPI_COMM_SELF, check_path, MPI_MODE_RDONLY);
  OK(MPI_File_set_view(file, 2, MPI_INT, type, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, 3, found, kInts, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_SAME("after closing and opening", found, data, sizeof data);
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
  return check_end();
}
