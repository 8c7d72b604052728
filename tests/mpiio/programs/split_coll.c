// Split collectives: begun, something else done, ended; positions move at the beginning; one a handle at a time, with
// other accesses of the same handle while it is under way.
#include "check.h"

enum { kInts = 2000 };

static int data[kInts], found[kInts];

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Status status;
  MPI_Offset position = -1;
  MPI_Datatype vector, type;
  MPI_Type_vector(kInts / 10, 10, 10 * check_ranks, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, (MPI_Aint)sizeof(int) * kInts * check_ranks, &type);
  MPI_Type_commit(&type);
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * 10 * check_rank, MPI_INT, type, "native", MPI_INFO_NULL));
  for (int i = 0; i < kInts; ++i) data[i] = check_rank * kInts + i;

  OK(MPI_File_write_all_begin(file, data, kInts, MPI_INT));
  int sum = 0;
  MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  OK(MPI_File_write_all_end(file, data, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, kInts);

  OK(MPI_File_write_at_all_begin(file, kInts, data, kInts, MPI_INT));
  EXPECT_ERROR(MPI_File_write_all_begin(file, data, kInts, MPI_INT));  // one is under way
  OK(MPI_File_write_at_all_end(file, data, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, kInts);
  check_publish(file, MPI_COMM_WORLD);

  OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  OK(MPI_File_read_all_begin(file, found, kInts, MPI_INT));
  OK(MPI_File_read_all_end(file, found, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  EXPECT_SAME("read_all", found, data, sizeof data);

  memset(found, 0, sizeof found);
  int single = -1;
  OK(MPI_File_read_at_all_begin(file, kInts, found, kInts, MPI_INT));
  OK(MPI_File_read_at(file, 3, &single, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_EQ(single, data[3]);
  OK(MPI_File_read_at_all_end(file, found, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  EXPECT_SAME("read_at_all", found, data, sizeof data);

  if (check_strict) {
    EXPECT_ERROR(MPI_File_read_all_end(file, found, &status));                   // none is under way
    OK(MPI_File_read_at_all_begin(file, 2 * kInts - 7, found, kInts, MPI_INT));  // half over the end of the file
    OK(MPI_File_read_at_all_end(file, found, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), 7);
  }
  OK(MPI_File_close(&file));
  MPI_Type_free(&vector);
  MPI_Type_free(&type);
  return check_end();
}
