#include <stdio.h>

#include "adios.h"

int main(int argc, char** argv) {
  int64_t file;
  uint64_t total;
  int NX = 10, failed;
  double temperature[10];
  for (int i = 0; i < NX; ++i) temperature[i] = 0.5 * i;
  MPI_Init(&argc, &argv);
  failed = adios_init("fields.xml", MPI_COMM_SELF) || adios_open(&file, "fields", argv[1], "w", MPI_COMM_SELF) ||
           adios_group_size(file, 4 + 8 * 10, &total) || adios_write(file, "NX", &NX) ||
           adios_write(file, "temperature", temperature) || adios_close(file) || adios_finalize(0);
  if (failed) fprintf(stderr, "%s\n", adios_get_last_errmsg());
  MPI_Finalize();
  return failed;
}
