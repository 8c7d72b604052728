// MPI_DISPLACEMENT_CURRENT with a sequential file: a new view begins where the shared pointer is. Blocking and
// nonblocking shared accesses follow.
#include "check.h"

static void header_and_records(int nonblocking) {
  MPI_File file = check_open_new();
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  char header[4] = "HEAD";
  if (check_rank == 0) OK(MPI_File_write_shared(file, header, 4, MPI_CHAR, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Offset displacement = -1;
  MPI_Datatype etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  EXPECT_EQ(displacement, 4);
  MPI_Request request;
  MPI_Status status;
  if (nonblocking) {
    OK(MPI_File_iwrite_shared(file, &check_rank, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
  } else {
    OK(MPI_File_write_ordered(file, &check_rank, 1, MPI_INT, &status));
  }
  EXPECT_EQ(check_count(&status, MPI_INT), 1);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  int image[65], sum = 0;
  EXPECT_EQ(check_load(check_path, image, sizeof image), 4 * (check_ranks + 1));
  EXPECT_SAME("the header", image, "HEAD", 4);
  for (int i = 0; i < check_ranks; ++i) {
    sum += image[i + 1];
    if (!nonblocking) EXPECT_EQ(image[i + 1], i);
  }
  EXPECT_EQ(sum, check_ranks * (check_ranks - 1) / 2);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  header_and_records(0);
  header_and_records(1);
  // Not in a file that is not sequential.
  if (check_strict) {
    MPI_File file = check_open_new();
    EXPECT_ERROR(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_close(&file));
  }
  return check_end();
}
