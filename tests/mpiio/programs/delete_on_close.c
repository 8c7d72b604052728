// MPI_MODE_DELETE_ON_CLOSE: the file is there while it is open, and gone when it was closed. MPI_MODE_UNIQUE_OPEN
// changes nothing for one that is alone.
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const int amodes[] = {MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN,
                        MPI_MODE_UNIQUE_OPEN};
  for (int i = 0; i < 3; ++i) {
    int value = check_rank, found = -1, amode = 0;
    MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR | amodes[i]);
    OK(MPI_File_get_amode(file, &amode));
    EXPECT_EQ(amode, MPI_MODE_CREATE | MPI_MODE_RDWR | amodes[i]);
    OK(MPI_File_write_at_all(file, 4 * check_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    check_publish(file, MPI_COMM_WORLD);
    EXPECT(access(check_path, F_OK) == 0, "the file is not there while it is open");
    OK(MPI_File_read_at(file, 4 * ((check_rank + 1) % check_ranks), &found, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_EQ(found, (check_rank + 1) % check_ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    const int there = access(check_path, F_OK) == 0;
    EXPECT(there == !(amodes[i] & MPI_MODE_DELETE_ON_CLOSE), "the file is%s there when it was closed",
           there ? "" : " not");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return check_end();
}
