// Accesses that a file's mode, or sense, forbids fail with the right class, through every function, and leave the file
// and its pointers as they were.
#include "access.h"

static int ints[4] = {1, 2, 3, 4};

static void unchanged(MPI_File file) {
  MPI_Offset position = -1;
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, 0);
}

static void write_only(void) {
  MPI_Request request;
  MPI_Status status;
  MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  OK(MPI_File_write_at(file, check_rank * 16, ints, 4, MPI_INT, &status));
  EXPECT_CLASS(MPI_File_read(file, ints, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  EXPECT_CLASS(MPI_File_read_at(file, 0, ints, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  EXPECT_CLASS(MPI_File_read_all(file, ints, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  EXPECT_CLASS(MPI_File_read_at_all(file, 0, ints, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  EXPECT_CLASS(MPI_File_iread(file, ints, 1, MPI_INT, &request), MPI_ERR_ACCESS);
  EXPECT_CLASS(MPI_File_iread_at(file, 0, ints, 1, MPI_INT, &request), MPI_ERR_ACCESS);
  EXPECT_CLASS(MPI_File_read_shared(file, ints, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  EXPECT_CLASS(MPI_File_read_all_begin(file, ints, 1, MPI_INT), MPI_ERR_ACCESS);
  if (check_strict) {
    EXPECT_CLASS(MPI_File_read_ordered(file, ints, 1, MPI_INT, &status), MPI_ERR_ACCESS);
  }
  unchanged(file);
  OK(MPI_File_close(&file));
}

static void read_only(void) {
  MPI_Request request;
  MPI_Status status;
  MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDONLY);
  EXPECT_CLASS(MPI_File_write(file, ints, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  EXPECT_CLASS(MPI_File_write_at(file, 0, ints, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  EXPECT_CLASS(MPI_File_write_all(file, ints, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  EXPECT_CLASS(MPI_File_write_at_all(file, 0, ints, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
  EXPECT_CLASS(MPI_File_iwrite(file, ints, 1, MPI_INT, &request), MPI_ERR_READ_ONLY);
  EXPECT_CLASS(MPI_File_iwrite_at(file, 0, ints, 1, MPI_INT, &request), MPI_ERR_READ_ONLY);
  EXPECT_ERROR(MPI_File_set_size(file, 1));
  if (check_strict) {
    EXPECT_CLASS(MPI_File_write_shared(file, ints, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
    EXPECT_CLASS(MPI_File_write_ordered(file, ints, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
    EXPECT_CLASS(MPI_File_write_all_begin(file, ints, 1, MPI_INT), MPI_ERR_READ_ONLY);
    EXPECT_ERROR(MPI_File_preallocate(file, 100000));
  }
  unchanged(file);
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, check_ranks * 16);
  OK(MPI_File_close(&file));
}

static void senseless(void) {
  MPI_Status status;
  MPI_Request request;
  MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  EXPECT_CLASS(MPI_File_write_at(file, -1, ints, 1, MPI_INT, &status), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_File_read_at(file, -1, ints, 1, MPI_INT, &status), MPI_ERR_ARG);
  EXPECT_CLASS(MPI_File_iread_at(file, -1, ints, 1, MPI_INT, &request), MPI_ERR_ARG);
  EXPECT_ERROR(MPI_File_write(file, ints, -1, MPI_INT, &status));
  EXPECT_ERROR(MPI_File_read(file, ints, -1, MPI_INT, &status));
  EXPECT_ERROR(MPI_File_write(file, ints, 1, MPI_DATATYPE_NULL, &status));
  EXPECT_ERROR(MPI_File_read(file, ints, 1, MPI_DATATYPE_NULL, &status));
  MPI_Datatype uncommitted;
  MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  EXPECT_ERROR(MPI_File_read(file, ints, 1, uncommitted, &status));
  MPI_Type_free(&uncommitted);
  EXPECT_ERROR(MPI_File_set_size(file, -1));
  EXPECT_ERROR(MPI_File_preallocate(file, -1));
  EXPECT_ERROR(MPI_File_seek(file, 0, 12345));
  unchanged(file);
  OK(MPI_File_close(&file));
}

// Bytes that are no whole number of etypes (MPI 4.0, section 14.4.1).
static void partial_etypes(void) {
  MPI_Status status;
  MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDWR);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  EXPECT_ERROR(MPI_File_write_at(file, 0, ints, 3, MPI_BYTE, &status));
  EXPECT_ERROR(MPI_File_read_at(file, 0, ints, 3, MPI_BYTE, &status));
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  write_only();
  MPI_Barrier(MPI_COMM_WORLD);
  read_only();
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_strict) senseless(), partial_etypes();
  return check_end();
}
