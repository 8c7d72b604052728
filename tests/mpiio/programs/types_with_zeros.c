// Blocks of no length in filetypes and in memory: leading, trailing and between; ranks whose filetype or count is
// nothing in a collective access; counts of 0 with any buffer.
#include "access.h"

enum { kSlots = 9 };

static MPI_Datatype with_zeros(int which, const int* lengths) {
  int displacements[kSlots];
  MPI_Aint addresses[kSlots];
  MPI_Datatype types[kSlots], type;
  for (int i = 0; i < kSlots; ++i) displacements[i] = i, addresses[i] = 4 * i, types[i] = MPI_INT;
  if (which == 0) MPI_Type_indexed(kSlots, lengths, displacements, MPI_INT, &type);
  if (which == 1) MPI_Type_create_hindexed(kSlots, lengths, addresses, MPI_INT, &type);
  if (which == 2) MPI_Type_create_struct(kSlots, lengths, addresses, types, &type);
  MPI_Type_commit(&type);
  return type;
}

static void zeros(int which, int kind) {
  static const int first[kSlots] = {0, 0, 0, 0, 1, 1, 0, 1, 0};
  int lengths[kSlots] = {0}, data[kSlots], count = 0;
  for (int i = 0; i < kSlots; ++i) {
    if (check_rank < 2) lengths[i] = check_rank == 0 ? first[i] : 1 - first[i];
    data[i] = 100 + check_rank;
    count += lengths[i];
  }
  if (check_rank >= 2) lengths[3] = 1;  // they have a view, and write nothing through it
  MPI_Datatype type = with_zeros(which, lengths);
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  MPI_Status status;
  OK(access_write(file, kind, 0, data, count, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), count);
  check_publish(file, MPI_COMM_WORLD);
  int found[kSlots];
  memset(found, 0, sizeof found);
  OK(access_read(file, kind, 0, found, count, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), count);
  for (int i = 0; i < count; ++i) EXPECT(found[i] == data[i], "type %d, %s: %d", which, access_names[kind], found[i]);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(access_read(file, kind, 0, found, kSlots, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kSlots);
  for (int i = 0; i < kSlots; ++i)
    EXPECT(found[i] == (first[i] ? 100 : 101), "type %d, %s: slot %d is %d", which, access_names[kind], i, found[i]);
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
}

// Some ranks have a filetype without a byte, of an extent; they take part with nothing.
static void empty_views(int kind) {
  const int displacements[2][3] = {{0, 4, 5}, {1, 2, 3}};
  const int mine = check_rank < 2 ? 3 : 0;
  MPI_Datatype block, type;
  MPI_Type_create_indexed_block(mine, 1, displacements[check_rank % 2], MPI_INT, &block);
  MPI_Type_create_resized(block, 0, 24, &type);
  MPI_Type_commit(&type);
  int data[3] = {10 * (check_rank + 1), 10 * (check_rank + 1) + 1, 10 * (check_rank + 1) + 2};
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL));
  for (int pass = 0; pass < 2; ++pass) {
    MPI_Status status;
    if (mine > 0 || !access_moves_pointer(kind))
      OK(access_write(file, kind, 3 * pass, mine > 0 ? data : NULL, mine, MPI_INT, &status));
    else
      OK(access_write(file, kind, 0, NULL, 0, MPI_INT, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), mine);
  }
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  static const int wanted[12] = {10, 20, 21, 22, 11, 12, 10, 20, 21, 22, 11, 12};
  int image[13];
  EXPECT_EQ(check_load(check_path, image, sizeof image), sizeof wanted);
  EXPECT_SAME(access_names[kind], image, wanted, sizeof wanted);
  MPI_Type_free(&block);
  MPI_Type_free(&type);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void nothing(int kind) {
  MPI_Status status;
  MPI_Offset size = -1, position = -1;
  int value = -3;
  MPI_File file = check_open_new();
  OK(access_write(file, kind, 1000, NULL, 0, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 0);
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 0);
  OK(access_read(file, kind, 0, &value, 0, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 0);
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, 0);
  EXPECT_EQ(value, -3);
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  check_needs_ranks(2);
  for (int kind = access_independent_kinds; kind < access_kinds; ++kind) {
    for (int which = 0; which < 3; ++which) zeros(which, kind);
    empty_views(kind);
  }
  for (int kind = 0; kind < access_kinds; ++kind) nothing(kind);
  return check_end();
}
