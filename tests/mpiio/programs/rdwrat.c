// Explicit offsets, through the C interface in every kind, in memory order and backwards; pointers stay.
#include "access.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  enum { kInts = 50 };
  MPI_Status status;
  MPI_Offset position = -1;
  for (int kind = 0; kind < access_kinds; ++kind) {
    if (access_moves_pointer(kind)) continue;
    MPI_File file = check_open_new();
    OK(MPI_File_set_view(file, 3, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(file, 11, MPI_SEEK_SET));
    for (int i = kInts - 1; i >= 0; --i) {
      int value[2] = {i * check_ranks + check_rank, -1};
      OK(access_write(file, kind, value[0], value, 1, MPI_INT, &status));
      EXPECT_EQ(check_count(&status, MPI_INT), 1);
    }
    check_publish(file, MPI_COMM_WORLD);
    for (int i = 0; i < kInts; ++i) {
      int value[2] = {-1, -1};
      const MPI_Offset at = (MPI_Offset)i * check_ranks + (check_rank + 1) % check_ranks;
      OK(access_read(file, kind, at, value, 1, MPI_INT, &status));
      EXPECT(value[0] == at && value[1] == -1, "%s: %d %d at %d", access_names[kind], value[0], value[1], (int)at);
    }
    OK(MPI_File_get_position(file, &position));
    EXPECT_EQ(position, 11);
    OK(MPI_File_close(&file));
  }
  return check_end();
}
