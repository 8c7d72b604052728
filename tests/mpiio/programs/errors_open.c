// What MPI_File_open and MPI_File_delete refuse, and with which classes of errors.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static int open_fails(MPI_Comm comm, const char* name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(comm, name, amode, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
  return code;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const MPI_Comm world = MPI_COMM_WORLD;
  EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE);
  EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
  EXPECT_CLASS(open_fails(world, check_name("/none/at/all"), MPI_MODE_CREATE | MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);

  // A mode that makes no sense.
  EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_CREATE), MPI_ERR_AMODE);
  EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_RDWR | MPI_MODE_RDONLY), MPI_ERR_AMODE);
  EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_CREATE | MPI_MODE_RDONLY), MPI_ERR_AMODE);
  EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_RDONLY | MPI_MODE_EXCL), MPI_ERR_AMODE);
  EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE);
  EXPECT(access(check_path, F_OK) != 0, "a refused opening made the file");

  // Exclusive creation happens once.
  MPI_File file = check_open(world, check_path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
  OK(MPI_File_close(&file));
  MPI_Barrier(world);
  EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR), MPI_ERR_FILE_EXISTS);
  MPI_Barrier(world);

  // What the system forbids: root may do all with files, but a directory is no file.
  if (check_rank == 0) mkdir(check_name(".directory"), 0700);
  MPI_Barrier(world);
  EXPECT_ERROR(open_fails(world, check_name(".directory"), MPI_MODE_RDWR));
  MPI_Barrier(world);
  if (check_rank == 0) rmdir(check_name(".directory"));
  if (geteuid() != 0) {
    if (check_rank == 0) chmod(check_path, 0400);
    MPI_Barrier(world);
    EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_RDWR), MPI_ERR_ACCESS);
    EXPECT_CLASS(open_fails(world, check_path, MPI_MODE_RDONLY), MPI_SUCCESS);
  }
  MPI_Barrier(world);

  // All ranks have to say the same mode; Open MPI does not look.
#ifdef MPICH_VERSION
  if (check_ranks > 1) EXPECT_ERROR(open_fails(world, check_path, check_rank == 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY));
  MPI_Barrier(world);
#endif
  if (check_rank == 0) {
    OK(MPI_File_delete(check_path, MPI_INFO_NULL));
    EXPECT_CLASS(MPI_File_delete(check_path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  }
  return check_end();
}
