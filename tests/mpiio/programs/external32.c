// The representation "external32": big-endian bytes in the file, whatever memory has; contiguous, with derived types,
// through the individual pointer and with offsets (strict: with every kind of access). Values survive, bytes are as the
// standard says.
#include "access.h"

static MPI_File open_external(MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype) {
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, displacement, etype, filetype, "external32", MPI_INFO_NULL));
  return file;
}

static void big_endian(int kind) {
  enum { kInts = 5 };
  int data[kInts], found[kInts];
  static unsigned char image[1024];
  MPI_Status status;
  for (int i = 0; i < kInts; ++i) data[i] = 0x01020304 + 0x01010101 * i + check_rank;
  MPI_File file = open_external(0, MPI_INT, MPI_INT);
  OK(access_write(file, kind, check_rank * kInts, data, kInts, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  check_publish(file, MPI_COMM_WORLD);
  memset(found, 0, sizeof found);
  OK(access_read(file, kind, check_rank * kInts, found, kInts, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  EXPECT_SAME(access_names[kind], found, data, sizeof data);
  char representation[MPI_MAX_DATAREP_STRING] = "";
  MPI_Offset displacement;
  MPI_Datatype etype, filetype;
  OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  EXPECT(strcmp(representation, "external32") == 0, "%s", representation);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(check_load(check_path, image, sizeof image), 4 * kInts * check_ranks);
  for (int i = 0; i < kInts; ++i)
    for (int byte = 0; byte < 4; ++byte)
      EXPECT_EQ(image[4 * (check_rank * kInts + i) + byte], (data[i] >> (24 - 8 * byte)) & 255);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Chars in an indexed type, which once was copied over itself.
static void indexed_chars(int kind) {
  const int lengths[2] = {1, 1}, displacements[2] = {0, 1};
  char data[3] = "ab", found[3] = "";
  MPI_Datatype type;
  MPI_Type_indexed(2, lengths, displacements, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  data[0] = (char)(data[0] + check_rank);
  MPI_File file = open_external(0, type, type);
  OK(access_write(file, kind, check_rank, data, 1, type, MPI_STATUS_IGNORE));
  check_publish(file, MPI_COMM_WORLD);
  OK(access_read(file, kind, check_rank, found, 1, type, MPI_STATUS_IGNORE));
  EXPECT_SAME(access_names[kind], found, data, 2);
  OK(MPI_File_close(&file));
  MPI_Type_free(&type);
}

static void mixed_sizes(void) {
  double data[7], found[7] = {0};
  for (int i = 0; i < 7; ++i) data[i] = 1.5 * i + check_rank;
  MPI_Datatype every_second;
  MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Status status;
  MPI_File file = open_external(64 * check_rank, MPI_DOUBLE, MPI_DOUBLE);
  OK(MPI_File_write_at(file, 0, data, 1, every_second, &status));
  EXPECT_EQ(check_count(&status, MPI_DOUBLE), 4);
  OK(MPI_File_read_at(file, 0, found, 4, MPI_DOUBLE, &status));
  for (int i = 0; i < 4; ++i) EXPECT(found[i] == data[2 * i], "%g", found[i]);
  OK(MPI_File_close(&file));
  MPI_Type_free(&every_second);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  for (int kind = 0; kind < access_kinds; ++kind) {
    if (!check_strict && kind != access_at && kind != access_individual && kind != access_at_all && kind != access_all)
      continue;
    big_endian(kind);
    indexed_chars(kind);
  }
  mixed_sizes();
  return check_end();
}
