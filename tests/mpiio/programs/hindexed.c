// A two-dimensional array of chars whose rows the ranks interleave by hindexed types: written collectively with a type
// that comes in two rounds, compared with what MPI_Unpack makes of it. With blocks in headers and padding, and memory
// that is written several times (hvector of stride 0).
#include "access.h"

enum { kRows = 10, kColumns = 10, kBlocks = 3, kBlock = 1296, kHeader = 144, kPad = 256 };

static void rows(int kind) {
  static char data[kRows * kColumns], image[64 * kRows * kColumns], wanted[64 * kRows * kColumns];
  int lengths[kRows];
  MPI_Aint displacements[kRows];
  for (int i = 0; i < kRows; ++i) {
    lengths[i] = kColumns;
    displacements[i] = (MPI_Aint)i * kColumns * check_ranks + check_rank * kColumns;
  }
  MPI_Datatype type;
  MPI_Type_create_hindexed(kRows, lengths, displacements, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < kRows * kColumns; ++i) data[i] = (char)('A' + check_rank * 5 + i % 5);
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_CHAR, type, "native", MPI_INFO_NULL));
  OK(access_write(file, kind, 0, data, kRows * kColumns / 2, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(access_write(file, kind, kRows * kColumns / 2, data + kRows * kColumns / 2, kRows * kColumns / 2, MPI_CHAR,
                  MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  memset(wanted, 0, sizeof wanted);
  access_unpack(data, kRows * kColumns, wanted, 1, type);
  MPI_Allreduce(MPI_IN_PLACE, wanted, kRows * kColumns * check_ranks, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
  EXPECT_EQ(check_load(check_path, image, sizeof image), kRows * kColumns * check_ranks);
  EXPECT_SAME(access_names[kind], image, wanted, kRows * kColumns * check_ranks);
  MPI_Type_free(&type);
}

static void padded(int kind) {
  static int data[kBlock / 4];
  static char image[kHeader + kPad + kBlocks * kBlock + 1];
  for (int i = 0; i < kBlock / 4; ++i) data[i] = i + 1;
  MPI_Aint displacements[kBlocks];
  for (int i = 0; i < kBlocks; ++i) displacements[i] = kPad + i * kBlock;
  MPI_Datatype type, again;
  MPI_Type_create_hindexed_block(kBlocks, kBlock, displacements, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Type_create_hvector(kBlocks, kBlock, 0, MPI_BYTE, &again);
  MPI_Type_commit(&again);
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, kHeader, MPI_BYTE, type, "native", MPI_INFO_NULL));
  const int writes = check_rank == 0;
  OK(access_write(file, kind, 0, data, writes, again, MPI_STATUS_IGNORE));
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Status status;
  OK(access_read(file, kind, 0, image, (int)sizeof image - 1, MPI_BYTE, &status));
  EXPECT_EQ(check_count(&status, MPI_BYTE), (int)sizeof image - 1);
  for (int i = 0; i < kHeader + kPad; ++i) EXPECT(image[i] == 0, "byte %d of the header is %d", i, image[i]);
  for (int i = 0; i < kBlocks; ++i) EXPECT_SAME(access_names[kind], image + kHeader + kPad + i * kBlock, data, kBlock);
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
  MPI_Type_free(&again);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int kind = access_independent_kinds; kind < access_kinds; ++kind) rows(kind), padded(kind);
  for (int kind = 0; kind < access_independent_kinds; ++kind) padded(kind);
  return check_end();
}
