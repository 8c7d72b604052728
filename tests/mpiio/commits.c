// A datatype is tried once whether it is committed, not at every access. This program's own PMPI_Pack counts.
#define _GNU_SOURCE
#include <dlfcn.h>

#include "programs/check.h"

static int packed = 0;

int PMPI_Pack(const void* data, int count, MPI_Datatype type, void* to, int size, int* position, MPI_Comm comm) {
  int (*original)(const void*, int, MPI_Datatype, void*, int, int*, MPI_Comm);
  *(void**)&original = dlsym(RTLD_NEXT, "PMPI_Pack");
  ++packed;
  return original(data, count, type, to, size, position, comm);
}

static void write_ten_times(MPI_File file, MPI_Datatype type) {
  int data[8] = {0};
  for (int i = 0; i < 10; ++i) OK(MPI_File_write_at(file, 4 * i, data, 1, type, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  write_ten_times(file, MPI_INT);
  EXPECT_EQ(packed, 0);

  MPI_Datatype pairs, copy;
  int data[8] = {0};
  OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pairs));
  EXPECT_CLASS(MPI_File_write_at(file, 0, data, 1, pairs, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  EXPECT_CLASS(MPI_File_write_at(file, 0, data, 1, pairs, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  OK(MPI_Type_commit(&pairs));
  packed = 0;
  write_ten_times(file, pairs);
  EXPECT_EQ(packed, 1);
  OK(MPI_Type_free(&pairs));

  // A datatype that comes in its place, perhaps with the same handle, is another one.
  OK(MPI_Type_vector(2, 1, 3, MPI_INT, &copy));
  EXPECT_CLASS(MPI_File_write_at(file, 0, data, 1, copy, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  OK(MPI_Type_free(&copy));
  OK(MPI_File_close(&file));
  return check_end();
}
