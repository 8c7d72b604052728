// Exclusive creation by all ranks together succeeds once, and succeeds again when the file was deleted.
#include "check.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const int amode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;
  MPI_File file;
  for (int pass = 0; pass < 3; ++pass) {
    file = check_open(MPI_COMM_WORLD, check_path, amode);
    OK(MPI_File_write_at(file, check_rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_CLASS(MPI_File_open(MPI_COMM_WORLD, check_path, amode, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) OK(MPI_File_delete(check_path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // Only one of several that are alone makes it.
  int made = MPI_File_open(MPI_COMM_SELF, check_path, amode, MPI_INFO_NULL, &file) == MPI_SUCCESS;
  if (made) OK(MPI_File_close(&file));
  MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(made, 1);
  return check_end();
}
