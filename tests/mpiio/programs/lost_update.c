// One rank writes every second piece of a file with a noncontiguous filetype, again and again; the others write the
// pieces between, contiguously. Nobody writes a byte that another writes, so none may be lost, in atomic mode or not:
// after each write a rank finds in its own bytes what it wrote. A library that reads the holes and writes them back
// (data sieving) without a lock loses updates.
#include "check.h"

enum { kPieces = 64, kPiece = 24, kRounds = 400 };

static char data[kPieces * kPiece], found[kPieces * kPiece];

static void strided(MPI_File file, int round) {
  memset(data, 1 + round % 120, sizeof data);
  OK(MPI_File_write_at(file, 0, data, (int)sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
}

// The holes of this rank; the reader of them is the rank itself.
static int contiguous(MPI_File file, int round) {
  int lost = 0;
  for (int piece = check_rank - 1; piece < kPieces; piece += check_ranks - 1) {
    const MPI_Offset at = (MPI_Offset)(2 * piece + 1) * kPiece;
    memset(data, 1 + round % 120, kPiece);
    OK(MPI_File_write_at(file, at, data, kPiece, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  for (int piece = check_rank - 1; piece < kPieces; piece += check_ranks - 1) {
    const MPI_Offset at = (MPI_Offset)(2 * piece + 1) * kPiece;
    OK(MPI_File_read_at(file, at, found, kPiece, MPI_BYTE, MPI_STATUS_IGNORE));
    lost += memcmp(found, data, kPiece) != 0;
  }
  return lost;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  check_needs_ranks(2);
  MPI_Datatype pieces, type;
  MPI_Type_vector(kPieces, kPiece, 2 * kPiece, MPI_BYTE, &pieces);
  MPI_Type_create_resized(pieces, 0, 2 * kPieces * kPiece, &type);
  MPI_Type_commit(&type);
  MPI_File file = check_open_new();
  OK(MPI_File_set_size(file, 2 * kPieces * kPiece));
  OK(MPI_File_set_view(file, 0, MPI_BYTE, check_rank == 0 ? type : MPI_BYTE, "native", MPI_INFO_NULL));
  int lost = 0;
  const double end = MPI_Wtime() + 20;
  for (int round = 0; round < kRounds; ++round) {
    if (check_rank == 0)
      strided(file, round);
    else
      lost += contiguous(file, round);
    int late = MPI_Wtime() > end;
    if (round % 50 == 49) {
      MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
      if (late) break;
    }
  }
  EXPECT(lost == 0, "%d updates were lost", lost);
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    OK(MPI_File_read_at(file, 0, found, (int)sizeof found, MPI_BYTE, MPI_STATUS_IGNORE));
    EXPECT_SAME("the strided bytes", found, data, sizeof data);
  }
  OK(MPI_File_close(&file));
  MPI_Type_free(&pieces);
  MPI_Type_free(&type);
  return check_end();
}
