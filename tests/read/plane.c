/* Reads the plane [:, :, INDEX] of an array of doubles in the newest step, each rank a part of its rows, into one file.
 * Usage: plane STORE NAME INDEX OUT; with MPI on any number of ranks. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

#include "forebay/forebay_read.h"

static void check(int code) {
  if (code == FOREBAY_OK) return;
  fprintf(stderr, "%d: %s\n", code, forebay_message());
  exit(1);
}

int main(int argc, char** argv) {
  int rank = 0, ranks = 1, file;
  forebay_read_options options = {sizeof options, 0, 0, 0, NULL, NULL, NULL};
  forebay_read_run* run;
  forebay_read_step* step;
  forebay_read_plan* plan;
  const forebay_read_array* array;
  size_t number, bytes;
  uint64_t begin[3], count[3], row_bytes, holes;
  double* rows;
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
  if (argc != 5) return 2;
  options.memory_bytes = (uint64_t)256 << 20;
  options.threads = 1;
  check(forebay_read_open(argv[1], &options, &run));
  check(forebay_read_open_step(run, -1, &step));
  check(forebay_read_find(step, argv[2], &number));
  check(forebay_read_inquire_array(step, number, &array));
  if (array->type != FOREBAY_READ_FLOAT64 || array->dimensions != 3 || array->form != FOREBAY_READ_GLOBAL) return 3;
  begin[0] = array->shape[0] * (uint64_t)rank / (uint64_t)ranks;
  count[0] = array->shape[0] * (uint64_t)(rank + 1) / (uint64_t)ranks - begin[0];
  begin[1] = 0;
  count[1] = array->shape[1];
  begin[2] = strtoull(argv[3], NULL, 10);
  count[2] = 1;
  row_bytes = array->shape[1] * sizeof *rows;
  bytes = (size_t)(count[0] * row_bytes);
  rows = malloc(bytes + 1);
  check(forebay_read_plan_new(&plan));
  check(forebay_read_plan_box(plan, step, number, 3, begin, count, NULL, rows, bytes));
  check(forebay_read_perform(plan));
  check(forebay_read_outcome(plan, 0, &holes));
  if (holes != 0) return 4;
  file = open(argv[4], O_WRONLY | O_CREAT, 0666);
  if (file < 0 || pwrite(file, rows, bytes, (off_t)(begin[0] * row_bytes)) != (ssize_t)bytes || close(file) != 0)
    return 5;
  free(rows);
  forebay_read_plan_free(plan);
  forebay_read_close_step(step);
  forebay_read_close(run);
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  return 0;
}
