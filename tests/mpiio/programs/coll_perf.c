// A three-dimensional array in blocks, one a rank, as a darray: written and read with every collective kind, through
// one order of dimensions and the other.
#include "access.h"

enum { kEdge = 24 };

static void block(int order, int kind) {
  int dims[3] = {0, 0, 0};
  MPI_Dims_create(check_ranks, 3, dims);
  const int sizes[3] = {kEdge, kEdge, kEdge};
  const int distributions[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int arguments[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype type;
  MPI_Type_create_darray(check_ranks, check_rank, 3, sizes, distributions, arguments, dims, order, MPI_INT, &type);
  MPI_Type_commit(&type);
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  const int count = bytes / (int)sizeof(int);

  int* data = malloc((size_t)bytes);
  int* found = malloc((size_t)bytes);
  int* whole = malloc(sizeof(int) * kEdge * kEdge * kEdge);
  for (int i = 0; i < kEdge * kEdge * kEdge; ++i) whole[i] = 31 * i + kind;
  access_pack(whole, 1, type, data, bytes);

  MPI_Status status;
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  OK(access_write(file, kind, 0, data, count, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), count);
  check_publish(file, MPI_COMM_WORLD);
  memset(found, 0, (size_t)bytes);
  OK(access_read(file, kind, 0, found, count, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), count);
  EXPECT_SAME(access_names[kind], found, data, bytes);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    static int image[kEdge * kEdge * kEdge + 1];
    EXPECT_EQ(check_load(check_path, image, sizeof image), sizeof(int) * kEdge * kEdge * kEdge);
    EXPECT_SAME("the array", image, whole, sizeof(int) * kEdge * kEdge * kEdge);
  }
  MPI_Type_free(&type);
  free(data);
  free(found);
  free(whole);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int kind = access_independent_kinds; kind < access_kinds; ++kind) {
    block(MPI_ORDER_C, kind);
    block(MPI_ORDER_FORTRAN, kind);
  }
  return check_end();
}
