// MPI_File_set_size cuts and grows, MPI_File_preallocate only grows; sizes count bytes whatever the view; what is cut
// off and grown again is zeros.
#include "check.h"

static void expect_size(MPI_File file, MPI_Offset wanted, int line) {
  MPI_Offset size = -1;
  OK(MPI_File_get_size(file, &size));
  if (size != wanted) check_failed(__FILE__, line, "the size is %d, should be %d", (int)size, (int)wanted);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char data[1000], found[1000], wanted[1000];
  memset(data, 'x', sizeof data);
  MPI_Status status;
  MPI_File file = check_open_new();
  expect_size(file, 0, __LINE__);
  OK(MPI_File_write_at_all(file, 1000 * check_rank, data, 1000, MPI_CHAR, &status));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));
  expect_size(file, 1000 * check_ranks, __LINE__);
  OK(MPI_File_set_size(file, 500));
  expect_size(file, 500, __LINE__);
  OK(MPI_File_read_at_all(file, 0, found, 1000, MPI_CHAR, &status));
  EXPECT_EQ(check_count(&status, MPI_CHAR), check_strict ? 500 : check_count(&status, MPI_CHAR));
  OK(MPI_File_set_size(file, 900));
  expect_size(file, 900, __LINE__);
  memset(wanted, 0, sizeof wanted);
  memset(wanted, 'x', 500);
  OK(MPI_File_read_at(file, 0, found, 900, MPI_CHAR, &status));
  EXPECT_EQ(check_count(&status, MPI_CHAR), 900);
  EXPECT_SAME("after cutting and growing", found, wanted, 900);

  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_preallocate(file, 300));
  expect_size(file, 900, __LINE__);
  OK(MPI_File_preallocate(file, 5000));
  expect_size(file, 5000, __LINE__);
  OK(MPI_File_read_at(file, 0, found, 900, MPI_CHAR, &status));
  EXPECT_SAME("after preallocating", found, wanted, 900);

  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 3, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  OK(MPI_File_set_view(file, 7, MPI_INT, vector, "native", MPI_INFO_NULL));
  expect_size(file, 5000, __LINE__);
  OK(MPI_File_set_size(file, 77));
  expect_size(file, 77, __LINE__);
  OK(MPI_File_set_size(file, 0));
  expect_size(file, 0, __LINE__);
  MPI_Type_free(&vector);
  OK(MPI_File_close(&file));
  return check_end();
}
