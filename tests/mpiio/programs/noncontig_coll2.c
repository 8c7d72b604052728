// Interleaved collective writes and reads under hints for collective buffering: how many aggregators, of what buffer,
// whether at all. Hints may be ignored; the data must be right with all of them.
#include "access.h"

enum { kInts = 1500 };

static void with_hints(const char* const* hints, int kind) {
  static int data[kInts], found[kInts];
  MPI_Info info;
  MPI_Info_create(&info);
  for (; hints[0] != NULL; hints += 2) MPI_Info_set(info, hints[0], hints[1]);
  MPI_Datatype vector, type;
  MPI_Type_vector(kInts / 3, 3, 3 * check_ranks, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, (MPI_Aint)sizeof(int) * kInts * check_ranks, &type);
  MPI_Type_commit(&type);
  check_remove("");
  MPI_File file = check_open_info(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR, info);
  OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * 3 * check_rank, MPI_INT, type, "native", info));
  for (int pass = 0; pass < 2; ++pass) {
    MPI_Status status;
    for (int i = 0; i < kInts; ++i) data[i] = (check_rank * 2 + pass) * 100000 + i;
    OK(access_write(file, kind, (MPI_Offset)pass * kInts, data, kInts, MPI_INT, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  }
  check_publish(file, MPI_COMM_WORLD);
  for (int pass = 0; pass < 2; ++pass) {
    memset(found, 0, sizeof found);
    OK(access_read(file, kind, (MPI_Offset)pass * kInts, found, kInts, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < kInts; ++i) data[i] = (check_rank * 2 + pass) * 100000 + i;
    EXPECT_SAME(access_names[kind], found, data, sizeof data);
  }
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  EXPECT_EQ(size, (MPI_Offset)sizeof(int) * kInts * check_ranks * 2);
  OK(MPI_File_close(&file));
  MPI_Type_free(&vector);
  MPI_Type_free(&type);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  static const char* const sets[][9] = {
      {NULL},
      {"cb_nodes", "1", NULL},
      {"cb_nodes", "2", "cb_buffer_size", "16384", NULL},
      {"romio_cb_write", "enable", "romio_cb_read", "enable", "cb_config_list", "*:*", NULL},
      {"romio_cb_write", "disable", "romio_cb_read", "disable", "romio_ds_write", "disable", NULL},
      {"romio_no_indep_rw", "true", "cb_config_list", "*:1", NULL},
      {"collective_buffering", "false", "access_style", "write_once,random", "striping_unit", "65536", NULL},
  };
  for (size_t set = 0; set < sizeof sets / sizeof *sets; ++set)
    for (int kind = access_independent_kinds; kind < access_kinds; ++kind) with_hints(sets[set], kind);
  return check_end();
}
