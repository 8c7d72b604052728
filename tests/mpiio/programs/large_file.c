// Offsets beyond 2 and 4 GiB in a sparse file: explicit ones, pointers, displacements, sizes; each kind of access.
#include "access.h"

static const MPI_Offset kGiB = (MPI_Offset)1 << 30;

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  enum { kBytes = 4096 };
  static char data[kBytes], found[kBytes];
  static const int places[] = {1, 2, 3, 4, 5, 7, 9};
  MPI_File file = check_open_new();
  MPI_Status status;
  for (int kind = 0; kind < access_kinds; ++kind) {
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
      const MPI_Offset offset = places[i] * kGiB - 1000 + check_rank * kBytes;
      memset(data, 'a' + (kind * 7 + (int)i * 3 + check_rank) % 26, sizeof data);
      OK(access_write(file, kind, offset, data, kBytes, MPI_BYTE, &status));
      EXPECT_EQ(check_count(&status, MPI_BYTE), kBytes);
      OK(access_read(file, kind, offset, found, kBytes, MPI_BYTE, &status));
      EXPECT_SAME(access_names[kind], found, data, kBytes);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset size = 0, position = 0;
  OK(MPI_File_sync(file));
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 9 * kGiB - 1000 + check_ranks * kBytes);

  // The same bytes through a displacement, a seek from the end, and an etype.
  OK(MPI_File_set_view(file, 5 * kGiB - 1000, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at(file, kGiB / 2 + check_rank * kBytes / 4, found, kBytes / 4, MPI_INT, &status));
  memset(data, 'a' + ((access_kinds - 1) * 7 + 5 * 3 + check_rank) % 26, sizeof data);
  EXPECT_SAME("a displacement and an offset in etypes", found, data, kBytes);
  memset(data, 'a' + ((access_kinds - 1) * 7 + 6 * 3 + check_rank) % 26, sizeof data);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  if (check_strict)
    OK(MPI_File_seek(file, -(MPI_Offset)kBytes * (check_ranks - check_rank), MPI_SEEK_END));
  else
    OK(MPI_File_seek(file, size - (MPI_Offset)kBytes * (check_ranks - check_rank), MPI_SEEK_SET));
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, 9 * kGiB - 1000 + check_rank * kBytes);
  OK(MPI_File_read(file, found, kBytes, MPI_BYTE, &status));
  EXPECT_SAME("the end of the file", found, data, kBytes);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_set_size(file, 6 * kGiB + 1));
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 6 * kGiB + 1);
  OK(MPI_File_seek_shared(file, 5 * kGiB, MPI_SEEK_SET));
  OK(MPI_File_read_ordered(file, found, 16, MPI_BYTE, &status));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_get_position_shared(file, &position));
  EXPECT_EQ(position, 5 * kGiB + 16 * check_ranks);
  OK(MPI_File_close(&file));
  return check_end();
}
