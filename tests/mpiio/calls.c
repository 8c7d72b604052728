// Calls every function of MPI-IO that the layer intercepts, in files that are atomic and in files that are not, and
// checks what it does. Argument "layer": the layer has to be there.
#include <unistd.h>

#include "programs/check.h"

// clang-format off
#define count_t int
#define FORM(name) name##_plain
#define CALL(name) MPI_File_##name
#include "calls_data.h"
#undef count_t
#undef FORM
#undef CALL
#if MPI_VERSION >= 4
#define count_t MPI_Count
#define FORM(name) name##_large
#define CALL(name) MPI_File_##name##_c
#include "calls_data.h"
#endif
// clang-format on

static void expect_layer(MPI_File file, int wanted) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL] = "";
  int found = 0;
  OK(MPI_File_get_info(file, &info));
  MPI_Info_get(info, "forebay_version", MPI_MAX_INFO_VAL - 1, value, &found);
  EXPECT(found == wanted, "the layer is %s", found ? "there" : "not there");
  MPI_Info_free(&info);
}

static void expect_hint(MPI_File file, const char* key, const char* wanted) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL] = "";
  int found = 0;
  OK(MPI_File_get_info(file, &info));
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL - 1, value, &found);
  EXPECT(found && strcmp(value, wanted) == 0, "%s is %s, should be %s", key, value, wanted);
  MPI_Info_free(&info);
}

static void hints(MPI_File file) {
  MPI_Info info;
  OK(MPI_Info_create(&info));
  OK(MPI_Info_set(info, "forebay_lock", "range"));
  OK(MPI_File_set_info(file, info));
  expect_hint(file, "forebay_lock", "range");
  OK(MPI_Info_set(info, "forebay_lock", "list"));
  OK(MPI_File_set_info(file, info));
  expect_hint(file, "forebay_lock", "list");
  MPI_Info_free(&info);
}

static void sizes(MPI_File file) {
  MPI_Offset size = -1;
  OK(MPI_File_set_size(file, 1000));
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 1000);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_preallocate(file, 3000));
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 3000);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_preallocate(file, 10));
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, 3000);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_set_size(file, 0));
  OK(MPI_File_sync(file));
}

// Open MPI 4.1 cannot seek from the end in such views by itself.
static void from_the_end(MPI_File file) {
  MPI_Offset offset = -1;
  OK(MPI_File_seek(file, -5, MPI_SEEK_END));
  OK(MPI_File_get_position(file, &offset));
  EXPECT_EQ(offset, 20);
  OK(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
  OK(MPI_File_get_position_shared(file, &offset));
  EXPECT_EQ(offset, 24);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void pointers(MPI_File file, int atomic) {
  MPI_Datatype every_third;
  MPI_Offset offset = -1;
  OK(MPI_File_set_size(file, 400));
  OK(MPI_Type_create_resized(MPI_INT, 0, 12, &every_third));
  OK(MPI_Type_commit(&every_third));
  OK(MPI_File_set_view(file, 100, MPI_INT, every_third, "native", MPI_INFO_NULL));
  OK(MPI_File_get_byte_offset(file, 5, &offset));
  EXPECT_EQ(offset, 160);
  OK(MPI_File_seek(file, 7, MPI_SEEK_SET));
  OK(MPI_File_seek(file, -2, MPI_SEEK_CUR));
  OK(MPI_File_get_position(file, &offset));
  EXPECT_EQ(offset, 5);
  OK(MPI_File_seek_shared(file, 3, MPI_SEEK_SET));
  OK(MPI_File_seek_shared(file, 4, MPI_SEEK_CUR));
  OK(MPI_File_get_position_shared(file, &offset));
  EXPECT_EQ(offset, 7);
  MPI_Barrier(MPI_COMM_WORLD);
#ifdef OPEN_MPI
  if (atomic) from_the_end(file);
#else
  (void)atomic;
  from_the_end(file);
#endif

  MPI_Offset displacement = -1;
  MPI_Datatype etype, filetype;
  char representation[MPI_MAX_DATAREP_STRING];
  OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  EXPECT_EQ(displacement, 100);
  EXPECT(strcmp(representation, "native") == 0, "%s", representation);
  MPI_Type_free(&filetype);
  MPI_Type_free(&every_third);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_set_size(file, 0));
}

// Pointers and view go over with the file when it becomes atomic, and back.
static void change_over(MPI_File file) {
  MPI_Offset offset = -1;
  int atomic = -1, one = check_rank;
  OK(MPI_File_get_atomicity(file, &atomic));
  EXPECT_EQ(atomic, 0);
  OK(MPI_File_set_view(file, 4 * check_rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_seek(file, 10 + check_rank, MPI_SEEK_SET));
  OK(MPI_File_seek_shared(file, 6, MPI_SEEK_SET));
  OK(MPI_File_set_atomicity(file, 1));
  OK(MPI_File_get_atomicity(file, &atomic));
  EXPECT_EQ(atomic, 1);
  OK(MPI_File_get_position(file, &offset));
  EXPECT_EQ(offset, 10 + check_rank);
  OK(MPI_File_get_position_shared(file, &offset));
  EXPECT_EQ(offset, 6);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_write(file, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_write_shared(file, &one, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_set_atomicity(file, 0));
  OK(MPI_File_get_position(file, &offset));
  EXPECT_EQ(offset, 11 + check_rank);
  OK(MPI_File_get_position_shared(file, &offset));
  EXPECT_EQ(offset, 6 + check_ranks);
  OK(MPI_File_get_byte_offset(file, 1, &offset));
  EXPECT_EQ(offset, 4 * check_rank + 4);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

static void all_calls(MPI_File file, int atomic) {
#ifdef OPEN_MPI  // by itself, 4.1 does not wait in preallocate until the file has its size
  if (atomic) sizes(file);
#else
  sizes(file);
#endif
  pointers(file, atomic);
  data_calls_plain(file);
#if MPI_VERSION >= 4
  data_calls_large(file);
#endif
}

int main(int argc, char** argv) {
  int provided = -1;
  const int threads = argc > 3 && strcmp(argv[3], "threads") == 0;
  if (threads) {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argc, &argv);
  }
  check_ready(argc, argv);
  const int layer = argc > 2 && strcmp(argv[2], "layer") == 0;
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  expect_layer(file, layer);
  if (layer) hints(file);
  all_calls(file, 0);
#ifdef OPEN_MPI
  const int knows_atomic = layer;  // 4.1 has no atomic mode of its own
#else
  const int knows_atomic = 1;
#endif
  if (knows_atomic) {
    change_over(file);
    OK(MPI_File_set_atomicity(file, 1));
    all_calls(file, 1);
  }
  OK(MPI_File_close(&file));
  EXPECT(file == MPI_FILE_NULL, "the handle of a closed file");
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    OK(MPI_File_delete(check_path, MPI_INFO_NULL));
    EXPECT(access(check_path, F_OK) != 0, "the file is still there");
  }
  return check_end();
}
