// Each rank writes its rank with every kind of access at its place, and all see all of them.
#include "access.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int kind = 0; kind < access_kinds; ++kind) {
    MPI_Status status;
    MPI_File file = check_open_new();
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    const int mine = check_rank + 100 * kind;
    OK(access_write(file, kind, check_rank, &mine, 1, MPI_INT, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), 1);
    check_publish(file, MPI_COMM_WORLD);
    for (int rank = 0; rank < check_ranks; ++rank) {
      int found = -1;
      OK(access_read(file, kind, rank, &found, 1, MPI_INT, &status));
      EXPECT_EQ(check_count(&status, MPI_INT), 1);
      EXPECT(found == rank + 100 * kind, "%s: %d at %d", access_names[kind], found, rank);
    }
    OK(MPI_File_close(&file));
  }
  return check_end();
}
