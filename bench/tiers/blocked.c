/* How long ranks that use SCR's interface are blocked by a set, beside writing its bytes: blocked SETS MB PAUSE_MS. For
 * each set rank 0 prints "set NUMBER write SECONDS blocked SECONDS": of the slowest rank, the time of open, write and
 * close, and that of all SCR calls. */
#include <fcntl.h>
#include <mpi.h>
#include <scr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void must(int code, const char* what) {
  if (code == SCR_SUCCESS) return;
  fprintf(stderr, "blocked: %s has failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank = 0, flag = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int sets = argc > 1 ? atoi(argv[1]) : 4;
  const size_t bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 60) << 20;
  const int pause = argc > 3 ? atoi(argv[3]) : 1000;
  char* data = malloc(bytes);
  srand((unsigned)rank + 1);
  for (size_t at = 0; at < bytes; ++at) data[at] = (char)(rand() >> 7);
  must(SCR_Init(), "SCR_Init");
  char name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
  must(SCR_Have_restart(&flag, name), "SCR_Have_restart");
  for (int set = 1; set <= sets; ++set) {
    usleep(1000u * (unsigned)pause); /* the agents encode meanwhile */
    MPI_Barrier(MPI_COMM_WORLD);
    double times[2];
    const double start = MPI_Wtime();
    snprintf(name, sizeof name, "ckpt.%d", set);
    must(SCR_Start_output(name, SCR_FLAG_CHECKPOINT), "SCR_Start_output");
    snprintf(name, sizeof name, "ckpt.%d/rank_%d", set, rank);
    must(SCR_Route_file(name, path), "SCR_Route_file");
    const double begun = MPI_Wtime();
    const int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    size_t written = 0;
    while (file >= 0 && written < bytes) {
      const ssize_t more = write(file, data + written, bytes - written);
      if (more <= 0) break;
      written += (size_t)more;
    }
    const int is_written = file >= 0 && close(file) == 0 && written == bytes;
    times[0] = MPI_Wtime() - begun;
    MPI_Barrier(MPI_COMM_WORLD); /* what ranks wait for each other's writing is not SCR's */
    const double wrote = MPI_Wtime();
    must(SCR_Complete_output(is_written), "SCR_Complete_output");
    times[1] = (begun - start) + (MPI_Wtime() - wrote);
    MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("set %d write %.4f blocked %.4f\n", set, times[0], times[1]);
    fflush(stdout);
  }
  must(SCR_Finalize(), "SCR_Finalize");
  MPI_Finalize();
  return 0;
}
