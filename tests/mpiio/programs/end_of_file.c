// Reads at and over the end of the file: the status says how much there was, the rest of the buffer is untouched, the
// pointer moves by what was asked for (MPI 4.0, section 14.4.1: by the amount that the access requested). Of ranks that
// read together, each gets its own count. Without
// "strict": accesses of single ranks to files without holes.
#include "access.h"

enum { kBytes = 10, kThere = 5 };

static void contiguous(int kind) {
  char data[kBytes], found[kBytes], wanted[kBytes];
  MPI_Status status;
  MPI_File file = check_open_new();
  for (int i = 0; i < kBytes; ++i) data[i] = (char)(i + 1), wanted[i] = (char)(i < kThere ? i + 1 : 99);
  if (check_rank == 0) OK(MPI_File_write(file, data, kThere, MPI_CHAR, &status));
  check_publish(file, MPI_COMM_WORLD);
  memset(found, 99, sizeof found);
  OK(access_read(file, kind, 0, found, kBytes, MPI_BYTE, &status));
  EXPECT_EQ(check_count(&status, MPI_BYTE), kThere);
  EXPECT_SAME(access_names[kind], found, wanted, kBytes);
  // One rank asks for all, the others for nothing; then all from different places.
  memset(&status, 1, sizeof status);
  const int count = check_rank == 0 ? kThere : 0;
  OK(access_read(file, kind, 0, found, count, MPI_BYTE, &status));
  EXPECT_EQ(check_count(&status, MPI_BYTE), count);
  OK(access_read(file, kind, kThere - check_rank % kThere, found, kBytes, MPI_BYTE, &status));
  EXPECT_EQ(check_count(&status, MPI_BYTE), check_rank % kThere);
  OK(access_read(file, kind, 100000, found, kBytes, MPI_BYTE, &status));
  EXPECT_EQ(check_count(&status, MPI_BYTE), 0);
  OK(MPI_File_close(&file));
}

static void with_holes(int kind) {
  int data[30], found[30];
  MPI_Status status;
  MPI_Datatype vector, type;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 20, &type);  // i . i . .
  MPI_Type_commit(&type);
  MPI_File file = check_open_new();
  for (int i = 0; i < 30; ++i) data[i] = i, found[i] = -1;
  if (check_rank == 0) OK(MPI_File_write(file, data, 8, MPI_INT, MPI_STATUS_IGNORE));
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  OK(access_read(file, kind, 0, found, 8, MPI_INT, &status));
  static const int wanted[8] = {0, 2, 5, 7, -1, -1, -1, -1};
  EXPECT_EQ(check_count(&status, MPI_INT), 4);
  EXPECT_SAME(access_names[kind], found, wanted, sizeof wanted);
  OK(MPI_File_close(&file));
  MPI_Type_free(&vector);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int kind = 0; kind < access_kinds; ++kind) {
    if (check_strict || kind < access_independent_kinds) contiguous(kind);
    if (check_strict) with_holes(kind);
  }
  return check_end();
}
