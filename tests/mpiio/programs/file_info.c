// Hints: given at the opening, with a view, or later; they may be ignored, and what MPI_File_get_info says is fit to be
// given to another opening. Accesses go on with all of them.
#include "check.h"

static void expect_key(MPI_Info info, const char* key, const char* first, const char* second) {
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int found = 0;
  MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
  if (!found) return;
  EXPECT(strcmp(value, first) == 0 || strcmp(value, second) == 0, "hint %s is %s", key, value);
}

static void exchange(MPI_File file) {
  int value = check_rank, found = -1;
  MPI_Status status;
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, &status));
  check_publish(file, MPI_COMM_WORLD);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_read_ordered(file, &found, 1, MPI_INT, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), 1);
  EXPECT_EQ(found, check_rank);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Info info, used;
  int keys = 0;
  MPI_Info_create(&info);
  MPI_Info_set(info, "access_style", "write_once,random");
  MPI_Info_set(info, "cb_buffer_size", "8388608");
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "ind_rd_buffer_size", "2097152");
  MPI_Info_set(info, "ind_wr_buffer_size", "1048576");
  MPI_Info_set(info, "striping_unit", "131072");
  MPI_Info_set(info, "not_a_hint_of_anybody", "whatever");
  MPI_File file = check_open_info(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  exchange(file);
  OK(MPI_File_get_info(file, &used));
  EXPECT(used != MPI_INFO_NULL, "a null info");
  MPI_Info_get_nkeys(used, &keys);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    MPI_Info_get_nthkey(used, i, key);
    MPI_Info_get(used, key, MPI_MAX_INFO_VAL, value, &found);
    EXPECT(found, "key %s has no value", key);
  }
  expect_key(used, "cb_buffer_size", "8388608", "16777216");
  expect_key(used, "ind_rd_buffer_size", "2097152", "4194304");
  expect_key(used, "cb_nodes", "1", "1");

  MPI_Info_set(info, "access_style", "read_once");
  OK(MPI_File_set_info(file, info));
  exchange(file);
  MPI_Info_free(&used);
  OK(MPI_File_get_info(file, &used));
  expect_key(used, "access_style", "read_once", "write_once,random");
  OK(MPI_File_set_view(file, 40, MPI_INT, MPI_INT, "native", info));
  exchange(file);
  OK(MPI_File_set_view(file, 80, MPI_INT, MPI_INT, "native", used));
  exchange(file);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);

  file = check_open_info(MPI_COMM_WORLD, check_path, MPI_MODE_RDWR, used);
  exchange(file);
  OK(MPI_File_close(&file));
  MPI_Info_free(&used);
  MPI_Info_free(&info);
  return check_end();
}
