// MPI_MODE_SEQUENTIAL: shared and ordered accesses work; those with offsets or individual pointers, and seeks, fail
// with MPI_ERR_UNSUPPORTED_OPERATION.
#include "check.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int value = check_rank, found = -1;
  MPI_Status status;
  MPI_Request request;
  MPI_Offset offset = 0;
  check_remove("");
  MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
  EXPECT_CLASS(MPI_File_write(file, &value, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_write_all(file, &value, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_write_at_all(file, 0, &value, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_iwrite(file, &value, 1, MPI_INT, &request), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_iwrite_at(file, 0, &value, 1, MPI_INT, &request), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  if (check_strict) EXPECT_CLASS(MPI_File_get_position(file, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_get_position_shared(file, &offset), MPI_ERR_UNSUPPORTED_OPERATION);
  OK(MPI_File_write_shared(file, &value, 1, MPI_INT, &status));
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);

  file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
  OK(MPI_File_read_ordered(file, &found, 1, MPI_INT, &status));
  EXPECT_EQ(found, check_rank);
  EXPECT_CLASS(MPI_File_read(file, &found, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_read_at(file, 0, &found, 1, MPI_INT, &status), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_CLASS(MPI_File_iread_at(file, 0, &found, 1, MPI_INT, &request), MPI_ERR_UNSUPPORTED_OPERATION);
  OK(MPI_File_iread_shared(file, &found, 1, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 1);
  int sum = 0;
  MPI_Allreduce(&found, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, check_ranks * (check_ranks - 1) / 2);
  OK(MPI_File_close(&file));
  return check_end();
}
