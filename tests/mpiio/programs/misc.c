// What MPI says of an open file: its mode, its view, its size, its group, and where the pointers are after seeks.
#include "check.h"

static void modes(MPI_File file) {
  int amode = 0, atomic = -1;
  OK(MPI_File_get_amode(file, &amode));
  EXPECT_EQ(amode, MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_get_atomicity(file, &atomic));
  EXPECT_EQ(atomic, check_atomic());
  OK(MPI_File_set_atomicity(file, 1));
  OK(MPI_File_get_atomicity(file, &atomic));
  EXPECT(atomic, "atomic mode was set");
  OK(MPI_File_set_atomicity(file, 0));
  OK(MPI_File_get_atomicity(file, &atomic));
  EXPECT_EQ(atomic, 0);
  if (check_atomic()) OK(MPI_File_set_atomicity(file, 1));
  MPI_Group group, world;
  int result = MPI_UNEQUAL;
  OK(MPI_File_get_group(file, &group));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &result);
  EXPECT_EQ(result, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

static void free_if_derived(MPI_Datatype type) {
  int ints, addresses, types, combiner;
  MPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&type);
}

static void check_view(MPI_File file, MPI_Offset wanted, int etype_size, int filetype_size) {
  MPI_Offset displacement = -1;
  MPI_Datatype etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING] = "";
  int size = 0;
  OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  EXPECT_EQ(displacement, wanted);
  EXPECT(strcmp(representation, "native") == 0, "%s", representation);
  MPI_Type_size(etype, &size);
  EXPECT_EQ(size, etype_size);
  MPI_Type_size(filetype, &size);
  EXPECT_EQ(size, filetype_size);
  free_if_derived(etype);
  free_if_derived(filetype);
}

static void expect_position(MPI_File file, MPI_Offset wanted) {
  MPI_Offset position = -1;
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, wanted);
}

static void expect_byte_offset(MPI_File file, MPI_Offset offset, MPI_Offset wanted) {
  MPI_Offset bytes = -1;
  OK(MPI_File_get_byte_offset(file, offset, &bytes));
  EXPECT_EQ(bytes, wanted);
}

static void seeks(MPI_File file) {
  const MPI_Offset ints = (MPI_Offset)sizeof(int);
  MPI_Datatype vector;
  MPI_Offset size = 0;
  MPI_Type_vector(10, 10, 20, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  OK(MPI_File_set_view(file, 1000, MPI_INT, vector, "native", MPI_INFO_NULL));
  MPI_Type_free(&vector);  // the view keeps it
  check_view(file, 1000, (int)ints, (int)(100 * ints));
  expect_byte_offset(file, 0, 1000);
  expect_byte_offset(file, 9, 1000 + 9 * ints);
  expect_byte_offset(file, 10, 1000 + 20 * ints);
  expect_byte_offset(file, 99, 1000 + 189 * ints);
  expect_byte_offset(file, 100, 1000 + 190 * ints);  // the extent ends with the last int
  OK(MPI_File_set_size(file, 1000 + 15 * ints));
  OK(MPI_File_sync(file));
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 1000 + 15 * ints);

  // The end of a file is in a hole of this view: the next byte of the view counts.
  OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  expect_position(file, 10);
  OK(MPI_File_seek(file, -10, MPI_SEEK_CUR));
  expect_position(file, 0);
  OK(MPI_File_seek(file, 37, MPI_SEEK_SET));
  expect_position(file, 37);
  OK(MPI_File_seek(file, 5, MPI_SEEK_CUR));
  expect_position(file, 42);
  OK(MPI_File_seek(file, -3, MPI_SEEK_END));
  expect_position(file, 7);
  EXPECT_ERROR(MPI_File_seek(file, -8, MPI_SEEK_CUR));
  EXPECT_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET));
  EXPECT_ERROR(MPI_File_seek(file, -11, MPI_SEEK_END));
  expect_position(file, 7);
  OK(MPI_File_preallocate(file, 8192));
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 8192);
}

// A view resets the pointers; a filetype of bytes behind the displacement.
static void views(MPI_File file) {
  OK(MPI_File_set_view(file, 17, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  expect_position(file, 0);
  check_view(file, 17, 1, 1);
  OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  expect_position(file, 8192 - 17);
  MPI_Datatype three;
  MPI_Type_contiguous(3, MPI_SHORT, &three);
  MPI_Type_commit(&three);
  OK(MPI_File_set_view(file, 2, three, three, "native", MPI_INFO_NULL));
  check_view(file, 2, 6, 6);
  OK(MPI_File_seek(file, 4, MPI_SEEK_SET));
  expect_byte_offset(file, 4, 26);
  short values[6] = {1, 2, 3, 4, 5, 6};
  MPI_Status status;
  OK(MPI_File_write(file, values, 2, three, &status));
  EXPECT_EQ(check_count(&status, three), 2);
  expect_position(file, 6);
  OK(MPI_File_seek(file, -2, MPI_SEEK_CUR));
  OK(MPI_File_write(file, values, 3, MPI_SHORT, &status));
  expect_position(file, 5);
  OK(MPI_File_write_at(file, 40, values, 3, MPI_SHORT, &status));
  expect_position(file, 5);
  MPI_Type_free(&three);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  check_view(file, 0, 1, 1);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_File file = check_open_new();
  modes(file);
  check_view(file, 0, 1, 1);
  int buffer[1024] = {0};
  OK(MPI_File_write(file, buffer, 1024, MPI_INT, MPI_STATUS_IGNORE));
  expect_position(file, (MPI_Offset)sizeof buffer);
  OK(MPI_File_sync(file));
  seeks(file);
  MPI_Barrier(MPI_COMM_WORLD);
  views(file);
  OK(MPI_File_close(&file));
  return check_end();
}
