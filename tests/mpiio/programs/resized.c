// Resized filetypes: a hole behind the data, a lower bound that is not where the data begins (twice over), extents that
// make instances interleave.
#include "access.h"

// A view of `type`, written with ints from 10 on; the file before was ints of 55.
static void expect_ints(const char* what, MPI_Datatype type, int count, const int* wanted, int wanted_ints) {
  static const int before[16] = {55, 55, 55, 55, 55, 55, 55, 55, 55, 55, 55, 55, 55, 55, 55, 55};
  int data[8], found[16], image[16];
  for (int i = 0; i < 8; ++i) data[i] = 10 * (i + 1);
  for (int kind = 0; kind < access_kinds; ++kind) {
    MPI_Status status;
    MPI_File file = check_open_new();
    if (check_rank == 0) OK(MPI_File_write(file, before, wanted_ints, MPI_INT, MPI_STATUS_IGNORE));
    check_publish(file, MPI_COMM_WORLD);
    OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
    const int mine = check_rank == 0 ? count : 0;
    OK(access_write(file, kind, 0, data, mine, MPI_INT, &status));
    check_publish(file, MPI_COMM_WORLD);
    memset(found, -1, sizeof found);
    OK(access_read(file, kind, 0, found, count, MPI_INT, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), count);
    EXPECT_SAME(what, found, data, 4 * count);
    EXPECT_EQ(found[count], -1);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(check_load(check_path, image, sizeof image), 4 * wanted_ints);
    EXPECT_SAME(access_names[kind], image, wanted, 4 * wanted_ints);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Datatype once, twice, vector;
  MPI_Type_create_resized(MPI_INT, 0, 12, &once);
  MPI_Type_commit(&once);
  static const int behind[4] = {10, 55, 55, 20};
  expect_ints("a hole behind", once, 2, behind, 4);
  MPI_Type_free(&once);

  MPI_Type_create_resized(MPI_INT, 4, 12, &once);
  MPI_Type_create_resized(once, 4, 12, &twice);
  MPI_Type_commit(&twice);
  expect_ints("a lower bound", twice, 2, behind, 4);
  MPI_Type_free(&once);
  MPI_Type_free(&twice);

  MPI_Type_create_resized(MPI_INT, -4, 12, &once);
  MPI_Type_commit(&once);
  expect_ints("a negative lower bound", once, 2, behind, 4);
  MPI_Type_free(&once);

  // Two ints that are four apart, every int: instances interleave, and the second begins in the first's hole.
  MPI_Type_vector(2, 1, 4, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 8, &twice);
  MPI_Type_commit(&twice);
  static const int between[8] = {10, 55, 30, 55, 20, 55, 40, 55};
  expect_ints("interleaved instances", twice, 4, between, 8);
  MPI_Type_free(&vector);
  MPI_Type_free(&twice);
  return check_end();
}
