// Filetypes with extents beyond 4 GiB: subarrays and darrays of huge arrays, nested indexed types; a few small pieces
// of each are written and found again by their byte offsets.
#include "access.h"

static const MPI_Offset kGiB = (MPI_Offset)1 << 30;

// Writes behind the first instance of the filetype, and finds it `extent` bytes after the beginning.
static void beyond(const char* what, MPI_Datatype type, MPI_Offset extent, int kind) {
  MPI_Count size = 0;
  MPI_Offset bytes = 0;
  MPI_Status status;
  int value = 1000000 + check_rank * 100 + kind, found = -1;
  MPI_Type_size_x(type, &size);
  MPI_File file = check_open_new();
  const MPI_Offset displacement = 4 * check_rank;
  OK(MPI_File_set_view(file, displacement, MPI_INT, type, "native", MPI_INFO_NULL));
  OK(MPI_File_get_byte_offset(file, size / 4, &bytes));
  EXPECT_EQ(bytes, displacement + extent);
  OK(access_write(file, kind, size / 4, &value, 1, MPI_INT, &status));
  check_publish(file, MPI_COMM_WORLD);
  OK(access_read(file, kind, size / 4, &found, 1, MPI_INT, &status));
  EXPECT(found == value, "%s, %s: %d through the view", what, access_names[kind], found);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(access_read(file, kind, (extent + displacement) / 4, &found, 1, MPI_INT, &status));
  EXPECT(found == value, "%s, %s: %d by its offset", what, access_names[kind], found);
  OK(MPI_File_close(&file));
}

static void nested(int mebibytes) {
  const int lengths[2] = {1, 1}, displacements[2] = {0, 1024 * 256 - 1};
  MPI_Datatype piece, type;
  MPI_Type_indexed(2, lengths, displacements, MPI_INT, &piece);
  MPI_Type_contiguous(mebibytes, piece, &type);
  MPI_Type_commit(&type);
  beyond("nested", type, (MPI_Offset)mebibytes << 20, access_at);
  beyond("nested", type, (MPI_Offset)mebibytes << 20, access_at_all);
  MPI_Type_free(&piece);
  MPI_Type_free(&type);
}

static void subarray(int gibibytes) {
  const int sizes[2] = {1024 * 16, 1024 * 16 * gibibytes}, parts[2] = {64, 64}, starts[2] = {0, 0};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
  MPI_Type_commit(&type);
  beyond("subarray", type, gibibytes * kGiB, access_individual);
  beyond("subarray", type, gibibytes * kGiB, access_all);
  MPI_Type_free(&type);
}

// Each rank has the corner that ends its block of an array of 9 GiB.
static void darray(void) {
  const int sizes[3] = {1152, 2048, 1024};
  const int distributions[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int arguments[3] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  const int dims[3] = {check_ranks, 1, 1};
  MPI_Datatype type;
  MPI_Status status;
  MPI_Type_create_darray(check_ranks, check_rank, 3, sizes, distributions, arguments, dims, MPI_ORDER_C, MPI_INT,
                         &type);
  MPI_Type_commit(&type);
  const MPI_Offset row = (MPI_Offset)sizes[1] * sizes[2];
  const MPI_Offset rows = (sizes[0] + check_ranks - 1) / check_ranks;
  const MPI_Offset own = check_rank == check_ranks - 1 ? sizes[0] - rows * check_rank : rows;
  int values[4], found[4] = {0};
  for (int i = 0; i < 4; ++i) values[i] = check_rank * 10 + i;
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  OK(MPI_File_write_at_all(file, own * row - 4, values, 4, MPI_INT, &status));
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at_all(file, (rows * check_rank + own) * row - 4, found, 4, MPI_INT, &status));
  EXPECT_SAME("the last ints of the block", found, values, sizeof values);
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  nested(1024);
  nested(3072);
  nested(6144);
  subarray(1);
  subarray(3);
  subarray(6);
  darray();
  return check_end();
}
