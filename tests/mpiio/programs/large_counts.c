// The functions with counts as MPI_Count (MPI 4.0), all of them, and MPI_File_get_type_extent_c;
// strict: with a type that was made with such a count, at which ROMIO aborts.
#include "check.h"

#if MPI_VERSION < 4
int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  return check_end();
}
#else

enum { kInts = 100 };

static int data[kInts], found[kInts];
static MPI_File file;

static void fresh(int seed) {
  for (int i = 0; i < kInts; ++i) data[i] = (seed * 10 + check_rank) * 1000 + i, found[i] = -1;
  MPI_Offset own = check_rank * kInts;
  OK(MPI_File_seek(file, own, MPI_SEEK_SET));
}

static void same(const char* what, MPI_Status* status) {
  MPI_Count count = -1;
  MPI_Get_count_c(status, MPI_INT, &count);
  EXPECT(count == kInts, "%s: %d ints", what, (int)count);
  EXPECT_SAME(what, found, data, sizeof data);
}

static void individual(void) {
  MPI_Status status;
  MPI_Request request;
  const MPI_Offset own = check_rank * kInts;
  fresh(1);
  OK(MPI_File_write_c(file, data, kInts, MPI_INT, &status));
  OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  OK(MPI_File_read_c(file, found, kInts, MPI_INT, &status));
  same("write_c, read_c", &status);
  fresh(2);
  OK(MPI_File_write_at_c(file, own, data, kInts, MPI_INT, &status));
  OK(MPI_File_read_at_c(file, own, found, kInts, MPI_INT, &status));
  same("write_at_c, read_at_c", &status);
  fresh(3);
  OK(MPI_File_write_all_c(file, data, kInts, MPI_INT, &status));
  OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  OK(MPI_File_read_all_c(file, found, kInts, MPI_INT, &status));
  same("write_all_c, read_all_c", &status);
  fresh(4);
  OK(MPI_File_write_at_all_c(file, own, data, kInts, MPI_INT, &status));
  OK(MPI_File_read_at_all_c(file, own, found, kInts, MPI_INT, &status));
  same("write_at_all_c, read_at_all_c", &status);
  fresh(5);
  OK(MPI_File_iwrite_c(file, data, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  OK(MPI_File_iread_c(file, found, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  same("iwrite_c, iread_c", &status);
  fresh(6);
  OK(MPI_File_iwrite_at_c(file, own, data, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_File_iread_at_c(file, own, found, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  same("iwrite_at_c, iread_at_c", &status);
  fresh(7);
  OK(MPI_File_iwrite_all_c(file, data, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  OK(MPI_File_iread_all_c(file, found, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  same("iwrite_all_c, iread_all_c", &status);
  fresh(8);
  OK(MPI_File_iwrite_at_all_c(file, own, data, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  OK(MPI_File_iread_at_all_c(file, own, found, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  same("iwrite_at_all_c, iread_at_all_c", &status);
}

static void split(void) {
  MPI_Status status;
  const MPI_Offset own = check_rank * kInts;
  fresh(9);
  OK(MPI_File_write_all_begin_c(file, data, kInts, MPI_INT));
  OK(MPI_File_write_all_end(file, data, &status));
  OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  OK(MPI_File_read_all_begin_c(file, found, kInts, MPI_INT));
  OK(MPI_File_read_all_end(file, found, &status));
  same("write_all_begin_c, read_all_begin_c", &status);
  fresh(10);
  OK(MPI_File_write_at_all_begin_c(file, own, data, kInts, MPI_INT));
  OK(MPI_File_write_at_all_end(file, data, &status));
  OK(MPI_File_read_at_all_begin_c(file, own, found, kInts, MPI_INT));
  OK(MPI_File_read_at_all_end(file, found, &status));
  same("write_at_all_begin_c, read_at_all_begin_c", &status);
}

static void shared(void) {
  MPI_Status status;
  MPI_Request request;
  fresh(11);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_write_ordered_c(file, data, kInts, MPI_INT, &status));
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_read_ordered_c(file, found, kInts, MPI_INT, &status));
  same("write_ordered_c, read_ordered_c", &status);
  fresh(12);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_write_ordered_begin_c(file, data, kInts, MPI_INT));
  OK(MPI_File_write_ordered_end(file, data, &status));
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_read_ordered_begin_c(file, found, kInts, MPI_INT));
  OK(MPI_File_read_ordered_end(file, found, &status));
  same("write_ordered_begin_c, read_ordered_begin_c", &status);

  // All write the same, so that it does not matter who comes first.
  for (int i = 0; i < kInts; ++i) data[i] = i;
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_write_shared_c(file, data, kInts, MPI_INT, &status));
  OK(MPI_File_iwrite_shared_c(file, data, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_read_shared_c(file, found, kInts, MPI_INT, &status));
  same("write_shared_c, read_shared_c", &status);
  memset(found, 0, sizeof found);
  OK(MPI_File_iread_shared_c(file, found, kInts, MPI_INT, &request));
  OK(MPI_Wait(&request, &status));
  same("iwrite_shared_c, iread_shared_c", &status);
  MPI_Barrier(MPI_COMM_WORLD);  // what follows writes over what others may still read
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  individual();
  split();
  shared();
  MPI_Count extent = -1;
  OK(MPI_File_get_type_extent_c(file, MPI_INT, &extent));
  EXPECT_EQ(extent, sizeof(int));
  MPI_Datatype large;
  MPI_Type_contiguous_c(10, MPI_INT, &large);
  MPI_Type_commit(&large);
  MPI_Status status;
  fresh(13);
  if (check_strict) {
    OK(MPI_File_write_at_c(file, check_rank * kInts, data, kInts / 10, large, &status));
    OK(MPI_File_read_at_c(file, check_rank * kInts, found, kInts / 10, large, &status));
    same("a type of the large-count kind", &status);
  }
  MPI_Type_free(&large);
  OK(MPI_File_close(&file));
  return check_end();
}
#endif
