// Collective writes that make aggregators work: strided pieces of some length that leave holes for data written before,
// one aggregator for all, pieces across stripes. Holes keep their bytes.
#include "access.h"

enum { kPieces = 60, kPiece = 100, kHole = 37 };

static void run(int kind, const char* nodes, int leave_holes) {
  const int slot = kPiece + (leave_holes ? kHole : 0);
  const int size = kPieces * slot * check_ranks;
  static char data[kPieces * kPiece], found[kPieces * kPiece];
  char* image = malloc((size_t)size + 1);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Info_set(info, "romio_cb_read", "enable");
  MPI_Info_set(info, "cb_nodes", nodes);
  MPI_Info_set(info, "cb_buffer_size", "8192");
  check_remove("");
  MPI_File file = check_open_info(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  if (check_rank == 0) {
    memset(image, '.', (size_t)size);
    OK(MPI_File_write_at(file, 0, image, size, MPI_CHAR, MPI_STATUS_IGNORE));
  }
  check_publish(file, MPI_COMM_WORLD);
  MPI_Datatype type;
  MPI_Type_create_hvector(kPieces, kPiece, (MPI_Aint)slot * check_ranks, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  OK(MPI_File_set_view(file, (MPI_Offset)slot * check_rank, MPI_CHAR, type, "native", info));
  for (int i = 0; i < kPieces * kPiece; ++i) data[i] = (char)('a' + (check_rank * 11 + i) % 26);
  OK(access_write(file, kind, 0, data, kPieces * kPiece, MPI_CHAR, MPI_STATUS_IGNORE));
  check_publish(file, MPI_COMM_WORLD);
  MPI_Status status;
  OK(access_read(file, kind, 0, found, kPieces * kPiece, MPI_CHAR, &status));
  EXPECT_EQ(check_count(&status, MPI_CHAR), kPieces * kPiece);
  EXPECT_SAME(access_names[kind], found, data, sizeof data);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(check_load(check_path, image, size + 1), size);
  for (int i = 0; i < size; ++i) {
    const int rank = i / slot % check_ranks, piece = i / slot / check_ranks, at = i % slot;
    const char wanted = at < kPiece ? (char)('a' + (rank * 11 + piece * kPiece + at) % 26) : '.';
    if (image[i] == wanted) continue;
    EXPECT(0, "%s, %s aggregators: byte %d is %d, should be %d", access_names[kind], nodes, i, image[i], wanted);
    break;
  }
  free(image);
  MPI_Type_free(&type);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int kind = access_independent_kinds; kind < access_kinds; ++kind) {
    run(kind, "1", 0);
    run(kind, "1", 1);
    run(kind, "64", 1);
  }
  return check_end();
}
