/* Ranks of a grid write steps of global arrays through adios.h, and the first of them reads what the file says of their
 * blocks through adios_read.h: program XML FILE STEPS ROWS-OF-RANKS COLUMNS-OF-RANKS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adios.h"
#include "adios_read.h"

enum { kRows = 150, kColumns = 120 };

static void check(int code, const char* call) {
  if (code == 0) return;
  fprintf(stderr, "%s: %d: %s\n", call, code, adios_get_last_errmsg());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double value(int step, int row, int column) {
  return 1e7 * step + 1e4 * row + column + 1.0 / (1 + row + column);
}

static void write_step(const char* path, int step, int rank, int rank_rows, int rank_columns) {
  static double field[kRows * kColumns];
  static int cells[kRows * kColumns];
  static float packed[kRows * kColumns];
  int rows = kRows, columns = kColumns, all_rows = kRows * rank_rows, all_columns = kColumns * rank_columns;
  int row = rank / rank_columns * kRows, column = rank % rank_columns * kColumns, own[3] = {rank, step, 7};
  int entries = rank + 1;
  double list[256];
  int64_t file;
  for (int i = 0; i < kRows * kColumns; ++i) {
    field[i] = value(step, row + i / kColumns, column + i % kColumns);
    cells[i] = (row + i / kColumns) * all_columns + column + i % kColumns;
    packed[i] = (float)field[i];
  }
  for (int i = 0; i < entries; ++i) list[i] = 100.0 * rank + i;
  check(adios_open(&file, "run", path, step == 0 ? "w" : "a", MPI_COMM_WORLD), "adios_open");
  check(adios_write(file, "rows", &rows), "adios_write");
  check(adios_write(file, "columns", &columns), "adios_write");
  check(adios_write(file, "all_rows", &all_rows), "adios_write");
  check(adios_write(file, "all_columns", &all_columns), "adios_write");
  check(adios_write(file, "row", &row), "adios_write");
  check(adios_write(file, "column", &column), "adios_write");
  check(adios_write(file, "entries", &entries), "adios_write");
  check(adios_write(file, "field", field), "adios_write");
  check(adios_write(file, "cells", cells), "adios_write");
  check(adios_write(file, "packed", packed), "adios_write");
  check(adios_write(file, "list", list), "adios_write");
  check(adios_write(file, "own", own), "adios_write");
  check(adios_write(file, "title", "a title"), "adios_write");
  check(adios_close(file), "adios_close");
}

/* A line for each block: "NAME STEP: START+COUNT,... of rank R", and one if a value of "field" is not what was written.
 */
static void tell(const char* path, int steps) {
  ADIOS_FILE* file = adios_read_open_file(path, ADIOS_READ_METHOD_BP, MPI_COMM_SELF);
  if (!file) check(-1, "adios_read_open_file");
  for (int i = 0; i < file->nvars; ++i) {
    ADIOS_VARINFO* variable = adios_inq_var(file, file->var_namelist[i]);
    if (variable->ndim == 0) continue;
    check(adios_inq_var_blockinfo(file, variable), "adios_inq_var_blockinfo");
    for (int b = 0; b < variable->sum_nblocks; ++b) {
      const ADIOS_VARBLOCK* block = &variable->blockinfo[b];
      printf("%s %u:", file->var_namelist[i], block->time_index);
      for (int d = 0; d < variable->ndim; ++d) printf(" %d+%d", (int)block->start[d], (int)block->count[d]);
      printf(" of rank %u\n", block->process_id);
    }
    if (!strcmp(file->var_namelist[i], "field")) {
      const int rows = (int)variable->dims[0], columns = (int)variable->dims[1];
      double* read = malloc((size_t)steps * rows * columns * sizeof *read);
      check(adios_schedule_read(file, NULL, "field", 0, steps, read), "adios_schedule_read");
      check(adios_perform_reads(file, 1), "adios_perform_reads");
      for (int at = 0; at < steps * rows * columns; ++at)
        if (read[at] != value(at / (rows * columns), at / columns % rows, at % columns)) {
          printf("field: wrong at %d\n", at);
          break;
        }
      free(read);
    }
    adios_free_varinfo(variable);
  }
  adios_read_close(file);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int steps = atoi(argv[3]);
  check(adios_init(argv[1], MPI_COMM_WORLD), "adios_init");
  for (int step = 0; step < steps; ++step) write_step(argv[2], step, rank, atoi(argv[4]), atoi(argv[5]));
  check(adios_finalize(rank), "adios_finalize");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) tell(argv[2], steps);
  MPI_Finalize();
  return 0;
}
