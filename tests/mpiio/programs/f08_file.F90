#define USE_MPI_F08
#include "f90_file.F90"
