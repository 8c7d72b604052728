// One int a rank, written in order and read in order; then read with nonblocking and shared accesses, each once.
#include "check.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Status status;
  MPI_Request request;
  int value = check_rank, sum = 0;
  MPI_File file = check_open_new();
  OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 1);
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  value = -1;
  OK(MPI_File_read_ordered(file, &value, 1, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 1);
  EXPECT_EQ(value, check_rank);

  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  value = -1;
  OK(MPI_File_iread_shared(file, &value, 1, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 1);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, check_ranks * (check_ranks - 1) / 2);

  // The end of the file is reached by all together: nothing is left.
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_shared(file, &value, 1, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 0);
  OK(MPI_File_close(&file));
  return check_end();
}
