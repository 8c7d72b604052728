/* Of ADIOS 1.x's reading interface, what programs ask that write: whether a way of reading is there. */
#ifndef ADIOS_READ_H
#define ADIOS_READ_H

#include <adios_error.h>
#include <adios_mpi.h>
#include <adios_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ADIOS_READ_METHOD {
  ADIOS_READ_METHOD_BP = 0,           /* files */
  ADIOS_READ_METHOD_BP_AGGREGATE = 1, /* files, read by some ranks for all */
  ADIOS_READ_METHOD_DATASPACES = 3,
  ADIOS_READ_METHOD_DIMES = 4,
  ADIOS_READ_METHOD_FLEXPATH = 5,
  ADIOS_READ_METHOD_ICEE = 6
};

/* Prepares a way of reading. Files need no preparation: 0. err_invalid_read_method for the others, which read what is
 * still in the memory of the program that wrote it. Any thread may call. */
int adios_read_init_method(enum ADIOS_READ_METHOD method, MPI_Comm comm, const char* parameters);

/* Ends what adios_read_init_method() began, with the same errors. */
int adios_read_finalize_method(enum ADIOS_READ_METHOD method);

#ifdef __cplusplus
}
#endif

#endif
