#include <stdio.h>
#include <stdlib.h>

#include "adios_query.h"

/* How many of the values are above 3. */
static uint64_t hits(ADIOS_FILE* file) {
  ADIOS_SELECTION* block = adios_selection_writeblock(0);
  ADIOS_QUERY* query = adios_query_create(file, block, "temperature", ADIOS_GT, "3");
  ADIOS_QUERY_RESULT* found = adios_query_evaluate(query, block, 0, 0);
  uint64_t count = found ? found->npoints : 0;
  if (found) adios_selection_delete(found->selections);
  free(found);
  adios_query_free(query);
  adios_selection_delete(block);
  return count;
}

/* Reads the values that write.c wrote: 0 if they are there. */
int main(int argc, char** argv) {
  double temperature[10];
  int failed = 1;
  MPI_Init(&argc, &argv);
  if (adios_read_init_method(ADIOS_READ_METHOD_BP, MPI_COMM_SELF, "") == 0) {
    ADIOS_FILE* file = adios_read_open_file(argv[1], ADIOS_READ_METHOD_BP, MPI_COMM_SELF);
    failed = !file || adios_schedule_read(file, NULL, "temperature", 0, 1, temperature) || adios_perform_reads(file, 1);
    for (int i = 0; !failed && i < 10; ++i) failed = temperature[i] != 0.5 * i;
    if (file && hits(file) != 3) failed = 1;
    if (file) failed |= adios_read_close(file);
    adios_read_finalize_method(ADIOS_READ_METHOD_BP);
  }
  if (failed) fprintf(stderr, "%s: %s\n", argv[1], adios_errmsg());
  MPI_Finalize();
  return failed;
}
