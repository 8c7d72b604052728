// The status of every kind of access says how much was moved, in the given type, in ints and in elements; at the end of
// the file, less than asked; and that it was not cancelled.
#include "access.h"

enum { kPairs = 500 };

static int data[3 * kPairs];

static void expect_counts(int line, const char* what, MPI_Status* status, MPI_Datatype type, int ints, int cancelled) {
  int count = -1, elements = -1, flag = 1;
  MPI_Count elements_x = -1;
  MPI_Get_count(status, type, &count);
  MPI_Get_elements(status, type, &elements);
  MPI_Get_elements_x(status, type, &elements_x);
  const int wanted = ints % 2 == 0 ? ints / 2 : MPI_UNDEFINED;
  if (count != wanted) check_failed(__FILE__, line, "%s: MPI_Get_count: %d, should be %d", what, count, wanted);
  if (elements != ints) check_failed(__FILE__, line, "%s: MPI_Get_elements: %d, should be %d", what, elements, ints);
  if (elements_x != ints) check_failed(__FILE__, line, "%s: MPI_Get_elements_x: %d", what, (int)elements_x);
  if (!cancelled) return;
  MPI_Test_cancelled(status, &flag);
  if (flag) check_failed(__FILE__, line, "%s: cancelled", what);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const int cancelled = check_strict;
  MPI_Datatype vector, pair;  // two ints with a hole
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  MPI_Type_contiguous(1, vector, &pair);
  MPI_Type_commit(&pair);
  MPI_Status status;
  for (int kind = 0; kind < access_kinds; ++kind) {
    MPI_File file = check_open_new();
    OK(MPI_File_set_view(file, (MPI_Offset)check_rank * 8 * kPairs, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    memset(&status, 0x55, sizeof status);
    OK(access_write(file, kind, 0, data, kPairs, pair, &status));
    expect_counts(__LINE__, access_names[kind], &status, pair, 2 * kPairs, cancelled);
    memset(&status, 0x55, sizeof status);
    OK(access_write(file, kind, 0, data, 0, pair, &status));
    expect_counts(__LINE__, access_names[kind], &status, pair, 0, cancelled);
    check_publish(file, MPI_COMM_WORLD);
    memset(&status, 0x55, sizeof status);
    OK(access_read(file, kind, 0, data, kPairs, pair, &status));
    expect_counts(__LINE__, access_names[kind], &status, pair, 2 * kPairs, cancelled);
    if (!check_strict) {
      OK(MPI_File_close(&file));
      continue;
    }
    // Past the end; the last rank ends the file.
    const MPI_Offset end = (MPI_Offset)(check_ranks - check_rank) * 2 * kPairs;
    memset(&status, 0x55, sizeof status);
    OK(access_read(file, kind, end - 7, data, kPairs, pair, &status));
    expect_counts(__LINE__, access_names[kind], &status, pair, 7, cancelled);
    memset(&status, 0x55, sizeof status);
    OK(access_read(file, kind, end + 100, data, kPairs, pair, &status));
    expect_counts(__LINE__, access_names[kind], &status, pair, 0, cancelled);
    OK(MPI_File_close(&file));
  }
  MPI_Type_free(&vector);
  MPI_Type_free(&pair);
  return check_end();
}
