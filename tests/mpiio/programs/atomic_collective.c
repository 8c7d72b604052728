// In atomic mode all ranks write the same bytes in one collective call: what remains is the data of one rank, whole.
// Then each writes half over its neighbour: every word is of one that wrote it.
#include "access.h"

enum { kInts = 6000 };

static int values[kInts], found[kInts];

static void same_bytes(int kind, int strided) {
  MPI_File file = check_open_new();
  OK(MPI_File_set_atomicity(file, 1));
  MPI_Datatype type;
  MPI_Type_vector(kInts / 4, 4, strided ? 9 : 4, MPI_INT, &type);
  MPI_Type_commit(&type);
  OK(MPI_File_set_view(file, 16, MPI_INT, type, "native", MPI_INFO_NULL));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kInts; ++i) values[i] = 10 * round + check_rank;
    MPI_Status status;
    OK(access_write(file, kind, 0, values, kInts, MPI_INT, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), kInts);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(access_read(file, kind, 0, found, kInts, MPI_INT, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), kInts);
    const int winner = found[0] - 10 * round;
    EXPECT(winner >= 0 && winner < check_ranks, "%s: %d is of no rank", access_names[kind], found[0]);
    int torn = 0;
    for (int i = 1; i < kInts && !torn; ++i) torn = found[i] != found[0];
    EXPECT(!torn, "%s, strided %d: words of several ranks", access_names[kind], strided);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
}

static void half_over(int kind) {
  MPI_File file = check_open_new();
  OK(MPI_File_set_atomicity(file, 1));
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int i = 0; i < kInts; ++i) values[i] = 1 + check_rank;
  const MPI_Offset half = kInts / 2;
  OK(access_write(file, kind, check_rank * half, values, kInts, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int part = 0; part <= check_ranks; ++part) {
    OK(access_read(file, kind, part * half, found, kInts / 2, MPI_INT, MPI_STATUS_IGNORE));
    const int low = part > 0 ? part : 1, high = part < check_ranks ? part + 1 : check_ranks;
    EXPECT(found[0] == low || found[0] == high, "%s: %d in part %d", access_names[kind], found[0], part);
    for (int i = 1; i < kInts / 2; ++i) {
      if (found[i] == found[0]) continue;
      EXPECT(0, "%s: part %d is of two ranks", access_names[kind], part);
      break;
    }
  }
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int kind = 0; kind < access_kinds; ++kind) {
    same_bytes(kind, 0);
    same_bytes(kind, 1);
    half_over(kind);
  }
  return check_end();
}
