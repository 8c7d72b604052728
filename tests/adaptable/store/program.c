/* Writes steps through adios.h: program XML FIRST LAST [KILL]. With KILL the ranks kill themselves behind the last
 * close. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "adios.h"

enum { kColumns = 50, kRows = 200 };

static void check(int code, const char* call) {
  if (code == 0) return;
  fprintf(stderr, "%s: %d: %s\n", call, code, adios_get_last_errmsg());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  static double field[kRows * kColumns];
  int rank, ranks, columns = kColumns, rows = kRows;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(adios_init(argv[1], MPI_COMM_WORLD), "adios_init");
  int all_rows = rows * ranks, first_row = rows * rank;
  for (int step = atoi(argv[2]); step <= atoi(argv[3]); ++step) {
    char name[64];
    int64_t file;
    for (int i = 0; i < kRows * kColumns; ++i) field[i] = 1e6 * step + (double)rank * kRows * kColumns + i;
    snprintf(name, sizeof name, "restart.%d.bp", step);
    check(adios_open(&file, "restart", name, "w", MPI_COMM_WORLD), "adios_open");
    check(adios_write(file, "rows", &rows), "adios_write");
    check(adios_write(file, "columns", &columns), "adios_write");
    check(adios_write(file, "all_rows", &all_rows), "adios_write");
    check(adios_write(file, "first_row", &first_row), "adios_write");
    check(adios_write(file, "field", field), "adios_write");
    check(adios_close(file), "adios_close");
    adios_start_calculation();
    adios_stop_calculation();
    adios_end_iteration();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc > 4) kill(getpid(), SIGKILL);
  check(adios_finalize(rank), "adios_finalize");
  MPI_Finalize();
  return 0;
}
