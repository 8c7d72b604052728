// What Fortran calls beside data access, by the entry points for C: all of it for Open MPI, and for MPICH what
// `use mpi_f08` does. (MPICH's other Fortran functions go through the C functions that the layer intercepts.)
#include "mpiio/mpi/entry.h"
#include "mpiio/mpi/fortran_arguments.h"

using namespace forebay::lock::mpiio;

#ifdef OPEN_MPI
#define NAME(name) mpi_##name##_
#else
#define NAME(name) mpi_##name##_f08_
#endif

FOREBAY_ENTRY void NAME(init)(MPI_Fint* error) {
  int argc = 0;
  char** argv = nullptr;
  fortran::give(error, MPI_Init(&argc, &argv));
}

FOREBAY_ENTRY void NAME(init_thread)(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  int argc = 0;
  char** argv = nullptr;
  fortran::give(error, MPI_Init_thread(&argc, &argv, *required, provided));
}

FOREBAY_ENTRY void NAME(file_open)(MPI_Fint* comm, char* name, MPI_Fint* amode, MPI_Fint* info, MPI_Fint* fh,
                                   MPI_Fint* error, int length) {
  MPI_File opened = MPI_FILE_NULL;
  const int code =
      MPI_File_open(PMPI_Comm_f2c(*comm), fortran::text(name, length).c_str(), *amode, fortran::info(info), &opened);
  if (code == MPI_SUCCESS) *fh = PMPI_File_c2f(opened);
  fortran::give(error, code);
}

FOREBAY_ENTRY void NAME(file_close)(MPI_Fint* fh, MPI_Fint* error) {
  MPI_File closed = fortran::file(fh);
  fortran::give(error, MPI_File_close(&closed));
  *fh = PMPI_File_c2f(closed);
}

FOREBAY_ENTRY void NAME(file_set_view)(MPI_Fint* fh, MPI_Offset* displacement, MPI_Fint* etype, MPI_Fint* filetype,
                                       char* representation, MPI_Fint* info, MPI_Fint* error, int length) {
  fortran::give(error,
                MPI_File_set_view(fortran::file(fh), *displacement, fortran::type(etype), fortran::type(filetype),
                                  fortran::text(representation, length).c_str(), fortran::info(info)));
}

FOREBAY_ENTRY void NAME(file_get_view)(MPI_Fint* fh, MPI_Offset* displacement, MPI_Fint* etype, MPI_Fint* filetype,
                                       char* representation, MPI_Fint* error, int length) {
  MPI_Datatype shown = MPI_DATATYPE_NULL, elements = MPI_DATATYPE_NULL;
  char name[MPI_MAX_DATAREP_STRING + 1] = "";
  const int code = MPI_File_get_view(fortran::file(fh), displacement, &elements, &shown, name);
  if (code == MPI_SUCCESS) {
    *etype = PMPI_Type_c2f(elements);
    *filetype = PMPI_Type_c2f(shown);
    fortran::blank_padded(name, representation, length);
  }
  fortran::give(error, code);
}

FOREBAY_ENTRY void NAME(file_set_atomicity)(MPI_Fint* fh, MPI_Fint* flag, MPI_Fint* error) {
  fortran::give(error, MPI_File_set_atomicity(fortran::file(fh), fortran::logical(flag)));
}

// .true. is 1 for gfortran, and what others test is a bit that 1 has, too.
FOREBAY_ENTRY void NAME(file_get_atomicity)(MPI_Fint* fh, MPI_Fint* flag, MPI_Fint* error) {
  int atomic = 0;
  fortran::give(error, MPI_File_get_atomicity(fortran::file(fh), &atomic));
  *flag = atomic != 0;
}

FOREBAY_ENTRY void NAME(file_set_info)(MPI_Fint* fh, MPI_Fint* info, MPI_Fint* error) {
  fortran::give(error, MPI_File_set_info(fortran::file(fh), fortran::info(info)));
}

FOREBAY_ENTRY void NAME(file_get_info)(MPI_Fint* fh, MPI_Fint* info, MPI_Fint* error) {
  MPI_Info used = MPI_INFO_NULL;
  fortran::give(error, MPI_File_get_info(fortran::file(fh), &used));
  *info = PMPI_Info_c2f(used);
}

FOREBAY_ENTRY void NAME(file_set_size)(MPI_Fint* fh, MPI_Offset* size, MPI_Fint* error) {
  fortran::give(error, MPI_File_set_size(fortran::file(fh), *size));
}

FOREBAY_ENTRY void NAME(file_preallocate)(MPI_Fint* fh, MPI_Offset* size, MPI_Fint* error) {
  fortran::give(error, MPI_File_preallocate(fortran::file(fh), *size));
}

FOREBAY_ENTRY void NAME(file_sync)(MPI_Fint* fh, MPI_Fint* error) {
  fortran::give(error, MPI_File_sync(fortran::file(fh)));
}

FOREBAY_ENTRY void NAME(file_seek)(MPI_Fint* fh, MPI_Offset* offset, MPI_Fint* whence, MPI_Fint* error) {
  fortran::give(error, MPI_File_seek(fortran::file(fh), *offset, *whence));
}

FOREBAY_ENTRY void NAME(file_seek_shared)(MPI_Fint* fh, MPI_Offset* offset, MPI_Fint* whence, MPI_Fint* error) {
  fortran::give(error, MPI_File_seek_shared(fortran::file(fh), *offset, *whence));
}

FOREBAY_ENTRY void NAME(file_get_position)(MPI_Fint* fh, MPI_Offset* offset, MPI_Fint* error) {
  fortran::give(error, MPI_File_get_position(fortran::file(fh), offset));
}

FOREBAY_ENTRY void NAME(file_get_position_shared)(MPI_Fint* fh, MPI_Offset* offset, MPI_Fint* error) {
  fortran::give(error, MPI_File_get_position_shared(fortran::file(fh), offset));
}

FOREBAY_ENTRY void NAME(file_get_byte_offset)(MPI_Fint* fh, MPI_Offset* offset, MPI_Offset* displacement,
                                              MPI_Fint* error) {
  fortran::give(error, MPI_File_get_byte_offset(fortran::file(fh), *offset, displacement));
}

#ifdef OPEN_MPI
// These two reach the library by a name of the profiling interface.
FOREBAY_ENTRY void mpi_file_set_atomicity_f08_(MPI_Fint* fh, MPI_Fint* flag, MPI_Fint* error) {
  NAME(file_set_atomicity)(fh, flag, error);
}

FOREBAY_ENTRY void mpi_file_get_atomicity_f08_(MPI_Fint* fh, MPI_Fint* flag, MPI_Fint* error) {
  NAME(file_get_atomicity)(fh, flag, error);
}
#endif
