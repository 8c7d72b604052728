/* Writes steps through adios.h: program XML FIRST LAST ROWS ["kill" | "two"]. With "kill" the ranks kill themselves
 * behind the last close; with "two", two steps at a time are open at once. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adios.h"

enum { kColumns = 50 };

static void check(int code, const char* call) {
  if (code == 0) return;
  fprintf(stderr, "%s: %d: %s\n", call, code, adios_get_last_errmsg());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int64_t write_step(int step, int rank, int ranks, int rows) {
  int columns = kColumns, all_rows = rows * ranks, first_row = rows * rank;
  double* field = malloc((size_t)rows * kColumns * sizeof *field);
  for (int i = 0; i < rows * kColumns; ++i) field[i] = 1e7 * step + (double)rank * rows * kColumns + i;
  char name[64];
  int64_t file;
  snprintf(name, sizeof name, "restart.%d.bp", step);
  check(adios_open(&file, "restart", name, "w", MPI_COMM_WORLD), "adios_open");
  check(adios_write(file, "rows", &rows), "adios_write");
  check(adios_write(file, "columns", &columns), "adios_write");
  check(adios_write(file, "all_rows", &all_rows), "adios_write");
  check(adios_write(file, "first_row", &first_row), "adios_write");
  check(adios_write(file, "field", field), "adios_write");
  free(field);
  return file;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(adios_init(argv[1], MPI_COMM_WORLD), "adios_init");
  const int rows = atoi(argv[4]);
  const char* more = argc > 5 ? argv[5] : "";
  for (int step = atoi(argv[2]); step <= atoi(argv[3]); ++step) {
    const int64_t file = write_step(step, rank, ranks, rows);
    if (strcmp(more, "two") == 0) {
      const int64_t second = write_step(++step, rank, ranks, rows);
      check(adios_close(file), "adios_close");
      check(adios_close(second), "adios_close");
      continue;
    }
    check(adios_close(file), "adios_close");
    adios_start_calculation();
    adios_stop_calculation();
    adios_end_iteration();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(more, "kill") == 0) kill(getpid(), SIGKILL);
  check(adios_finalize(rank), "adios_finalize");
  MPI_Finalize();
  return 0;
}
