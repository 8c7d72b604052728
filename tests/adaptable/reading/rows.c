/* Writes three steps of a global array of rows, of which each rank has other ones: rows METHOD PARAMETERS FILE. */
#include <adios.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kColumns = 50, kSteps = 3 };

int main(int argc, char** argv) {
  int rank, ranks, step, i, nx = kColumns, ny, offset = 0, total = 0;
  int64_t group, file;
  double* values;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (i = 0; i < ranks; ++i) {
    if (i < rank) offset += 10 + i;
    total += 10 + i;
  }
  ny = 10 + rank;
  values = malloc(sizeof(double) * (size_t)(nx * ny));
  adios_init_noxml(MPI_COMM_WORLD);
  adios_declare_group(&group, "grid", "", adios_flag_yes);
  adios_select_method(group, argv[1], argv[2], "");
  adios_define_var(group, "nx", "", adios_integer, 0, 0, 0);
  adios_define_var(group, "ny", "", adios_integer, 0, 0, 0);
  adios_define_var(group, "offset", "", adios_integer, 0, 0, 0);
  adios_define_var(group, "total", "", adios_integer, 0, 0, 0);
  adios_define_var(group, "temperature", "", adios_double, "ny,nx", "total,nx", "offset,0");
  adios_define_attribute(group, "unit", "temperature", adios_string, "K", "");
  for (step = 0; step < kSteps; ++step) {
    for (i = 0; i < nx * ny; ++i) values[i] = offset * nx + i + 10000 * step;
    if (adios_open(&file, "grid", argv[3], step ? "a" : "w", MPI_COMM_WORLD) != 0) return 1;
    adios_write(file, "nx", &nx);
    adios_write(file, "ny", &ny);
    adios_write(file, "offset", &offset);
    adios_write(file, "total", &total);
    adios_write(file, "temperature", values);
    if (adios_close(file) != 0) return 1;
  }
  adios_finalize(rank);
  free(values);
  MPI_Finalize();
  return 0;
}
