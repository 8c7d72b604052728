// Memory that does not begin where the buffer does: MPI_BOTTOM with absolute addresses, negative lower bounds and
// displacements, data backwards, one int written many times, pair types with holes; every kind
// of access. Strict: with the pair types, which ROMIO takes for types without holes, or aborts.
#include "access.h"

enum { kInts = 40 };

static int before[kInts], after[kInts], image[4 * kInts];

static MPI_File fresh(void) {
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, (MPI_Offset)check_rank * (MPI_Offset)sizeof image, MPI_INT, MPI_INT, "native",
                       MPI_INFO_NULL));
  return file;
}

static void bottom(int kind) {
  const int lengths[2] = {kInts, kInts};
  MPI_Aint addresses[2];
  MPI_Datatype type;
  MPI_Get_address(before, &addresses[0]);
  MPI_Get_address(after, &addresses[1]);
  MPI_Type_create_hindexed(2, lengths, addresses, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < kInts; ++i) before[i] = i + check_rank, after[i] = 1000 + i;
  MPI_Status status;
  MPI_File file = fresh();
  OK(access_write(file, kind, 0, MPI_BOTTOM, 1, type, &status));
  EXPECT_EQ(check_count(&status, type), 1);
  OK(access_read(file, kind, 0, image, 2 * kInts, MPI_INT, &status));
  EXPECT_SAME("the first array", image, before, sizeof before);
  EXPECT_SAME("the second array", image + kInts, after, sizeof after);
  memset(before, 0, sizeof before);
  memset(after, 0, sizeof after);
  OK(access_read(file, kind, 0, MPI_BOTTOM, 1, type, &status));
  EXPECT_SAME("the first array, read", before, image, sizeof before);
  EXPECT_SAME("the second array, read", after, image + kInts, sizeof after);
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
}

// From the end of the array to its beginning.
static void backwards(int kind) {
  MPI_Datatype type;
  MPI_Type_create_hvector(kInts, 1, -(MPI_Aint)sizeof(int), MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int i = 0; i < kInts; ++i) before[i] = 7 * i + check_rank;
  MPI_File file = fresh();
  MPI_Status status;
  OK(access_write(file, kind, 0, before + kInts - 1, 1, type, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  OK(access_read(file, kind, 0, image, kInts, MPI_INT, &status));
  for (int i = 0; i < kInts; ++i) EXPECT_EQ(image[i], before[kInts - 1 - i]);
  memset(after, 0, sizeof after);
  OK(access_read(file, kind, 0, after + kInts - 1, 1, type, &status));
  EXPECT_SAME("backwards twice", after, before, sizeof before);
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
}

static void repeated(int kind) {
  MPI_Datatype type;
  MPI_Type_vector(kInts, 1, 0, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_File file = fresh();
  MPI_Status status;
  const int value = 5000 + check_rank;
  OK(access_write(file, kind, 0, &value, 1, type, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  OK(access_read(file, kind, 0, image, kInts, MPI_INT, &status));
  for (int i = 0; i < kInts; ++i) EXPECT_EQ(image[i], value);
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
}

// A short and an int with a hole between and, as it may be, behind: the hole is neither written nor read.
static void pairs(int kind) {
  struct pair {
    double d;
    int i;
  } data[kInts], found[kInts];
  memset(data, 0x11, sizeof data);
  memset(found, 0x22, sizeof found);
  for (int i = 0; i < kInts; ++i) data[i].d = i / 4.0, data[i].i = i + check_rank;
  MPI_File file = check_open_new();
  MPI_Status status;
  const MPI_Offset packed = (MPI_Offset)(sizeof(double) + sizeof(int));
  OK(access_write(file, kind, check_rank * packed * kInts, data, kInts, MPI_DOUBLE_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_DOUBLE_INT), kInts);
  OK(access_read(file, kind, check_rank * packed * kInts, found, kInts, MPI_DOUBLE_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_DOUBLE_INT), kInts);
  for (int i = 0; i < kInts; ++i) EXPECT(found[i].d == data[i].d && found[i].i == data[i].i, "pair %d", i);
  const unsigned char* hole = (const unsigned char*)&found[1] + packed;
  for (size_t i = 0; i < sizeof(struct pair) - (size_t)packed; ++i) EXPECT_EQ(hole[i], 0x22);
  MPI_Offset size = 0;
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, packed * kInts * check_ranks);
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int kind = 0; kind < access_kinds; ++kind) {
    bottom(kind);
    backwards(kind);
    repeated(kind);
    if (check_strict) pairs(kind);
  }
  return check_end();
}
