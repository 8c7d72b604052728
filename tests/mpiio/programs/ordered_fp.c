// Ordered accesses come in the order of ranks, each as long as its rank wants, blocking and split; then others go on
// where they ended. Ranks that have nothing take part all the same.
#include "check.h"

enum { kMost = 64 };

static int values[kMost], found[kMost];

static int length_of(int rank, int round) { return round == 2 ? (rank % 2) * 5 : 1 + (rank * 7 + round * 3) % 30; }

static MPI_Offset place_of(int rank, int round) {
  MPI_Offset place = 0;
  for (int r = 0; r < round; ++r)
    for (int i = 0; i < check_ranks; ++i) place += length_of(i, r);
  for (int i = 0; i < rank; ++i) place += length_of(i, round);
  return place;
}

static void write_once(MPI_File file, int split, int count, MPI_Status* status) {
  if (split) {
    OK(MPI_File_write_ordered_begin(file, values, count, MPI_INT));
    OK(MPI_File_write_ordered_end(file, values, status));
  } else {
    OK(MPI_File_write_ordered(file, values, count, MPI_INT, status));
  }
}

static void read_once(MPI_File file, int split, int count, MPI_Status* status) {
  if (split) {
    OK(MPI_File_read_ordered_begin(file, found, count, MPI_INT));
    OK(MPI_File_read_ordered_end(file, found, status));
  } else {
    OK(MPI_File_read_ordered(file, found, count, MPI_INT, status));
  }
}

static void rounds(int split) {
  enum { kRounds = 5 };
  MPI_Status status;
  MPI_Offset position = -1;
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int round = 0; round < kRounds; ++round) {
    const int count = length_of(check_rank, round);
    for (int i = 0; i < count; ++i) values[i] = (round * 100 + check_rank) * 100 + i;
    write_once(file, split, count, &status);
    EXPECT_EQ(check_count(&status, MPI_INT), count);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_get_position_shared(file, &position));
  EXPECT_EQ(position, place_of(0, kRounds));
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, 0);
  check_publish(file, MPI_COMM_WORLD);

  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  for (int round = 0; round < kRounds; ++round) {
    const int count = length_of(check_rank, round);
    for (int i = 0; i < count; ++i) values[i] = (round * 100 + check_rank) * 100 + i;
    memset(found, -1, sizeof found);
    read_once(file, split, count, &status);
    EXPECT_EQ(check_count(&status, MPI_INT), count);
    EXPECT_SAME("what this rank wrote", found, values, (long)sizeof(int) * count);
    OK(MPI_File_read_at(file, place_of(check_rank, round), found, count, MPI_INT, &status));
    EXPECT_SAME("what this rank wrote, by its place", found, values, (long)sizeof(int) * count);
  }

  // Ordered and shared accesses use one pointer.
  const int single = -5;
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == check_ranks - 1) OK(MPI_File_write_shared(file, &single, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  values[0] = check_rank;
  write_once(file, split, 1, &status);
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_read_at(file, place_of(0, kRounds), found, check_ranks + 1, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), check_ranks + 1);
  EXPECT_EQ(found[0], single);
  for (int rank = 0; rank < check_ranks; ++rank) EXPECT_EQ(found[rank + 1], rank);
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  rounds(0);
  rounds(1);
  return check_end();
}
