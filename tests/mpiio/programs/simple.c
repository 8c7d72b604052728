// Every rank writes a file of its own, closes it, and finds in it what it wrote; then the same side by side in one
// file, with explicit offsets and with individual pointers.
#include "check.h"

enum { kInts = 16384 };

static int data[kInts], found[kInts];

static void fill(int seed) {
  for (int i = 0; i < kInts; ++i) data[i] = seed * 1000003 + i;
}

static void alone(void) {
  char suffix[32];
  snprintf(suffix, sizeof suffix, ".%d", check_rank);
  const char* name = check_name(suffix);
  remove(name);
  fill(check_rank);
  MPI_Status status;
  MPI_File file = check_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  OK(MPI_File_write(file, data, kInts, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  OK(MPI_File_close(&file));
  EXPECT(file == MPI_FILE_NULL, "the handle is not null after the file was closed");

  file = check_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY);
  OK(MPI_File_read(file, found, kInts, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  EXPECT_SAME("own file", found, data, sizeof data);
  OK(MPI_File_close(&file));
  OK(MPI_File_delete(name, MPI_INFO_NULL));
  EXPECT_CLASS(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

static void together(int explicit_offsets) {
  fill(check_rank + 7 * explicit_offsets);
  memset(found, 0, sizeof found);
  MPI_Status status;
  const MPI_Offset begin = (MPI_Offset)check_rank * (MPI_Offset)sizeof data;
  MPI_File file = check_open_new();
  if (explicit_offsets) {
    OK(MPI_File_write_at(file, begin, data, kInts, MPI_INT, &status));
  } else {
    OK(MPI_File_seek(file, begin, MPI_SEEK_SET));
    OK(MPI_File_write(file, data, kInts, MPI_INT, &status));
  }
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);

  file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDONLY);
  const int neighbour = (check_rank + 1) % check_ranks;
  const MPI_Offset there = (MPI_Offset)neighbour * (MPI_Offset)sizeof data;
  fill(neighbour + 7 * explicit_offsets);
  if (explicit_offsets) {
    OK(MPI_File_read_at(file, there, found, kInts, MPI_INT, &status));
  } else {
    OK(MPI_File_seek(file, there, MPI_SEEK_SET));
    OK(MPI_File_read(file, found, kInts, MPI_INT, &status));
  }
  EXPECT_SAME("a neighbour's part", found, data, sizeof data);
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, (MPI_Offset)check_ranks * (MPI_Offset)sizeof data);
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  alone();
  together(0);
  together(1);
  return check_end();
}
