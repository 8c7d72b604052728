// Several handles on one file: each rank opens it alone; one rank opens it twice with different views; parts of the
// world open it apart and together. Handles have pointers, views and atomicity of their own; strict:
// shared pointers of their own, too.
#include "check.h"

static void each_alone(void) {
  check_remove("");
  MPI_File file = check_open(MPI_COMM_SELF, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  int values[10], found[10];
  for (int i = 0; i < 10; ++i) values[i] = 10 * check_rank + i;
  OK(MPI_File_set_view(file, 40 * check_rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_write_all(file, values, 5, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_write_shared(file, values, 5, MPI_INT, MPI_STATUS_IGNORE));  // the shared pointer is at its beginning
  OK(MPI_File_write(file, values + 5, 5, MPI_INT, MPI_STATUS_IGNORE));
  check_publish(file, MPI_COMM_WORLD);
  const int neighbour = (check_rank + 1) % check_ranks;
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_read_at_all(file, 10 * neighbour, found, 10, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(found[i], 10 * neighbour + i);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
}

static void two_views(void) {
  check_remove("");
  MPI_File even = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File odd = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDWR);
  MPI_Datatype second;
  MPI_Offset position = -1;
  MPI_Type_create_resized(MPI_INT, 0, 8, &second);
  MPI_Type_commit(&second);
  OK(MPI_File_set_view(even, 0, MPI_INT, second, "native", MPI_INFO_NULL));
  OK(MPI_File_set_view(odd, 4, MPI_INT, second, "native", MPI_INFO_NULL));
  int values[2];
  for (int i = 0; i < 6; ++i) {
    values[0] = 100 + i * check_ranks + check_rank;
    values[1] = -values[0];
    const MPI_Offset at = i * check_ranks + check_rank;
    if (check_strict)
      OK(MPI_File_write_ordered(even, &values[0], 1, MPI_INT, MPI_STATUS_IGNORE));
    else
      OK(MPI_File_write_at_all(even, at, &values[0], 1, MPI_INT, MPI_STATUS_IGNORE));
    check_publish(even, MPI_COMM_WORLD);  // sieving must not lose what the other handle wrote
    if (check_strict)
      OK(MPI_File_write_ordered(odd, &values[1], 1, MPI_INT, MPI_STATUS_IGNORE));
    else
      OK(MPI_File_write_at_all(odd, at, &values[1], 1, MPI_INT, MPI_STATUS_IGNORE));
    check_publish(odd, MPI_COMM_WORLD);
  }
  if (check_strict) {
    OK(MPI_File_get_position_shared(even, &position));
    EXPECT_EQ(position, 6 * check_ranks);
  }
  OK(MPI_File_get_position(even, &position));
  EXPECT_EQ(position, 0);
  OK(MPI_File_seek(odd, 5, MPI_SEEK_SET));
  OK(MPI_File_get_position(even, &position));
  EXPECT_EQ(position, 0);
  OK(MPI_File_close(&even));
  OK(MPI_File_read(odd, values, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_EQ(values[0], -105);
  OK(MPI_File_close(&odd));
  MPI_Barrier(MPI_COMM_WORLD);
  static int image[1024];
  EXPECT_EQ(check_load(check_path, image, sizeof image), 48 * check_ranks);
  for (int i = 0; i < 6 * check_ranks; ++i)
    EXPECT(image[2 * i] == 100 + i && image[2 * i + 1] == -100 - i, "pair %d", i);
  MPI_Type_free(&second);
}

static void groups(void) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);  // in reverse order
  int rank;
  MPI_Comm_rank(half, &rank);
  check_remove("");
  MPI_File all = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File part = check_open(half, check_path, MPI_MODE_RDWR);
  const MPI_Offset begin = check_rank % 2 == 0 ? 0 : 400;
  OK(MPI_File_set_view(part, begin, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int value = 1000 + check_rank, found = -1;
  OK(MPI_File_write_ordered(part, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_write_at_all(part, 10 + rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Request request;
  OK(MPI_File_iwrite_at_all(part, 20 + rank, &value, 1, MPI_INT, &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(part));
  check_publish(all, MPI_COMM_WORLD);
  const int other = (check_rank + 1) % check_ranks;
  const int others = (check_ranks + 1 - other % 2) / 2, other_rank = others - 1 - other / 2;
  for (int place = 0; place < 3; ++place) {
    OK(MPI_File_read_at_all(all, (other % 2) * 400 + 4 * (10 * place + other_rank), &found, 1, MPI_INT,
                            MPI_STATUS_IGNORE));
    EXPECT_EQ(found, 1000 + other);
  }
  MPI_Group group, same;
  int result = MPI_UNEQUAL;
  OK(MPI_File_get_group(part, &group));
  MPI_Comm_group(half, &same);
  MPI_Group_compare(group, same, &result);
  EXPECT_EQ(result, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&same);
  MPI_Comm_free(&half);  // the file keeps what it needs
  OK(MPI_File_write_ordered(part, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&part));
  OK(MPI_File_close(&all));
}

// Atomic mode holds among the ranks of one opening; a handle's says nothing of another's.
static void atomicities(void) {
  MPI_File one = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_File two;
  int atomic = -1;
  OK(MPI_File_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDWR, MPI_INFO_NULL, &two));
  OK(MPI_File_set_atomicity(one, 1));
  OK(MPI_File_get_atomicity(two, &atomic));
  EXPECT_EQ(atomic, 0);
  OK(MPI_File_get_atomicity(one, &atomic));
  EXPECT_EQ(atomic, 1);
  OK(MPI_File_close(&one));
  OK(MPI_File_close(&two));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  each_alone();
  two_views();
  groups();
  atomicities();
  return check_end();
}
