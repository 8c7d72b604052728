// Writers of neighbouring pieces, none of which overlap, must not undo each other. Even ranks write strided pieces,
// which an MPI library may write by reading a block and writing it back; odd ranks write the pieces between them one by
// one, again and again with new values. Every piece has to hold what was written to it last.
#include "programs/check.h"

enum { kPieces = 2000, kInts = 4, kRounds = 30 };

static int value(int round, int piece) { return round * kPieces + piece; }

static void write_strided(MPI_File file, int first, int stride) {
  static int data[kPieces * kInts];
  MPI_Datatype pieces;
  const int count = kPieces / stride;
  OK(MPI_Type_vector(count, kInts, stride * kInts, MPI_INT, &pieces));
  OK(MPI_Type_commit(&pieces));
  OK(MPI_File_set_view(file, (MPI_Offset)first * kInts * 4, MPI_INT, pieces, "native", MPI_INFO_NULL));
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < count * kInts; ++i) data[i] = value(round, first + i / kInts * stride);
    OK(MPI_File_write_at(file, 0, data, count * kInts, MPI_INT, MPI_STATUS_IGNORE));
  }
  MPI_Type_free(&pieces);
}

// Nobody else writes these pieces, so what is read has to be what was written just before.
static void write_singly(MPI_File file, int first, int stride) {
  int data[kInts], found[kInts], lost = 0;
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int round = 1; round <= kRounds; ++round) {
    for (int piece = first; piece < kPieces; piece += stride) {
      for (int i = 0; i < kInts; ++i) data[i] = value(round, piece);
      OK(MPI_File_write_at(file, (MPI_Offset)piece * kInts, data, kInts, MPI_INT, MPI_STATUS_IGNORE));
    }
    for (int piece = first; piece < kPieces; piece += stride) {
      OK(MPI_File_read_at(file, (MPI_Offset)piece * kInts, found, kInts, MPI_INT, MPI_STATUS_IGNORE));
      lost += found[0] != value(round, piece);
    }
  }
  EXPECT(lost == 0, "%d of %d updates were lost", lost, kRounds * kPieces / stride);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  check_needs_ranks(2);
  MPI_File file = check_open_new();
  // set_view is collective: each rank sets its own once.
  if (check_rank % 2 == 0)
    write_strided(file, check_rank, check_ranks);
  else
    write_singly(file, check_rank, check_ranks);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    static int found[kPieces * kInts];
    int lost = 0;
    check_load(check_path, found, sizeof found);
    for (int i = 0; i < kPieces * kInts; ++i) lost += found[i] != value(kRounds, i / kInts);
    EXPECT(lost == 0, "%d of %d ints were overwritten with older ones", lost, kPieces * kInts);
  }
  return check_end();
}
