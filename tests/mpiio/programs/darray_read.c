// A matrix that one rank wrote is read through darrays: blocks, cyclic, cyclic in blocks that do not divide it,
// dimensions that are not distributed; both orders, every kind of read. What each has to find is what MPI_Pack takes
// from the matrix.
#include "access.h"

enum { kRows = 23, kColumns = 17 };

static int matrix[kRows * kColumns];

static void distribution(MPI_File file, int rows_how, int rows_by, int columns_how, int columns_by, int order) {
  const int sizes[2] = {kRows, kColumns};
  const int how[2] = {rows_how, columns_how}, by[2] = {rows_by, columns_by};
  int dims[2] = {rows_how == MPI_DISTRIBUTE_NONE ? 1 : 0, columns_how == MPI_DISTRIBUTE_NONE ? 1 : 0};
  if (rows_how == MPI_DISTRIBUTE_NONE && columns_how == MPI_DISTRIBUTE_NONE) return;
  MPI_Dims_create(check_ranks, 2, dims);
  MPI_Datatype type;
  MPI_Type_create_darray(check_ranks, check_rank, 2, sizes, how, by, dims, order, MPI_INT, &type);
  MPI_Type_commit(&type);
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  int* wanted = malloc((size_t)bytes + 1);
  int* found = malloc((size_t)bytes + 1);
  access_pack(matrix, 1, type, wanted, bytes);
  OK(MPI_File_set_view(file, 12, MPI_INT, type, "native", MPI_INFO_NULL));
  for (int kind = 0; kind < access_kinds; ++kind) {
    MPI_Status status;
    memset(found, 0, (size_t)bytes);
    OK(access_read(file, kind, 0, found, bytes / 4, MPI_INT, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), bytes / 4);
    EXPECT_SAME(access_names[kind], found, wanted, bytes);
  }
  free(wanted);
  free(found);
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int i = 0; i < kRows * kColumns; ++i) matrix[i] = 100 + i;
  MPI_File file = check_open_new();
  if (check_rank == 0) OK(MPI_File_write_at(file, 12, matrix, kRows * kColumns, MPI_INT, MPI_STATUS_IGNORE));
  check_publish(file, MPI_COMM_WORLD);
  static const int hows[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
  static const int bys[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, 3, MPI_DISTRIBUTE_DFLT_DARG};
  for (int rows = 0; rows < 4; ++rows)
    for (int columns = 0; columns < 4; ++columns)
      for (int order = 0; order < 2; ++order)
        distribution(file, hows[rows], bys[rows], hows[columns], bys[columns], order ? MPI_ORDER_FORTRAN : MPI_ORDER_C);
  OK(MPI_File_close(&file));
  return check_end();
}
