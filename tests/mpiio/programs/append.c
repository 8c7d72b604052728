// MPI_MODE_APPEND: all pointers begin at the end of the file, the shared one, too; explicit offsets do not care.
#include "check.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char text[64] = "0123456789";
  MPI_Offset position = -1;
  MPI_File file = check_open_new();
  if (check_rank == 0) OK(MPI_File_write(file, text, 10, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);

  file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDWR | MPI_MODE_APPEND);
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, 10);
  OK(MPI_File_get_position_shared(file, &position));
  EXPECT_EQ(position, 10);
  MPI_Barrier(MPI_COMM_WORLD);
  text[0] = (char)('a' + check_rank);
  OK(MPI_File_write_ordered(file, text, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_write_at_all(file, 20 + check_rank, text, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, 10);
  OK(MPI_File_seek(file, 30 + check_rank, MPI_SEEK_SET));
  OK(MPI_File_write(file, text, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);

  char image[64] = "", wanted[64] = "0123456789";
  for (int rank = 0; rank < check_ranks; ++rank)
    for (int i = 0; i < 3; ++i) wanted[10 * (i + 1) + rank] = (char)('a' + rank);
  EXPECT_EQ(check_load(check_path, image, sizeof image), 30 + check_ranks);
  EXPECT_SAME("the file", image, wanted, 30 + check_ranks);

  // With a view they begin at its beginning.
  file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_WRONLY | MPI_MODE_APPEND);
  OK(MPI_File_set_view(file, 4, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, 0);
  OK(MPI_File_close(&file));
  return check_end();
}
