#define USE_MPIF_H
#include "f90_file.F90"
