// One access of more bytes than an int counts, by a type that is large: by default 64 MiB (in types of 1 MiB); with the
// argument "large" 2 GiB and some, which takes as much memory. Blocking, nonblocking, collective.
#include "access.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const int large = argc > 2 && strcmp(argv[2], "large") == 0;
  const int count = large ? 2050 : 64;  // MiB
  const size_t bytes = (size_t)count << 20;
  int* data = malloc(bytes);
  int* found = malloc(bytes);
  if (data == NULL || found == NULL) {
    fprintf(stderr, "not enough memory\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Datatype type;
  MPI_Type_contiguous(1 << 18, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (size_t i = 0; i < bytes / 4; ++i) data[i] = (int)(i * 2654435761u) + check_rank;
  static const int kinds[] = {access_at, access_all, access_nonblocking};
  for (int k = 0; k < (large ? 1 : 3); ++k) {
    MPI_Status status;
    MPI_Count elements = 0;
    MPI_File file = check_open_new();
    const MPI_Offset offset = (MPI_Offset)check_rank * (MPI_Offset)bytes;
    OK(access_write(file, kinds[k], offset, data, count, type, &status));
    EXPECT_EQ(check_count(&status, type), count);
    MPI_Get_elements_x(&status, type, &elements);
    EXPECT_EQ(elements, bytes / 4);
    memset(found, 0, bytes);
    OK(access_read(file, kinds[k], offset, found, count, type, &status));
    EXPECT_EQ(check_count(&status, type), count);
    EXPECT(memcmp(found, data, bytes) == 0, "%s: other data", access_names[kinds[k]]);
    MPI_Offset size = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &size));
    EXPECT_EQ(size, (MPI_Offset)check_ranks * (MPI_Offset)bytes);
    OK(MPI_File_close(&file));
  }
  MPI_Type_free(&type);
  free(data);
  free(found);
  return check_end();
}
