/* MPI, or with -D_NOMPI (and libadios_nompi) a stand-in for programs of one process. */
#ifndef ADIOS_MPI_H
#define ADIOS_MPI_H

#ifdef _NOMPI
#include <mpidummy.h>
#else
#include <mpi.h>
#endif

#endif
