// Open MPI's Fortran functions. Each is found under every name that the library has for it (preload/trampolines.cc):
// those of mpif.h and `use mpi`, and those that `use mpi_f08` calls. They go through the entry points for C.
#include "lock/mpiio/mpi/entry.h"
#include "lock/mpiio/mpi/fortran_arguments.h"

#ifdef OPEN_MPI

using namespace forebay::lock::mpiio;

// clang-format off
#define FOREBAY_BLOCKING(name, TYPED, PLAIN)                                                                           \
  FOREBAY_ENTRY void mpi_file_##name##_(MPI_Fint* fh, TYPED void* buffer, MPI_Fint* count, MPI_Fint* datatype,         \
                                        MPI_Fint* status, MPI_Fint* error) {                                           \
    fortran::Status result(status);                                                                                    \
    fortran::give(error, MPI_File_##name(fortran::file(fh), PLAIN fortran::buffer(buffer), *count,                     \
                                         fortran::type(datatype), result));                                            \
  }
#define FOREBAY_NONBLOCKING(name, TYPED, PLAIN)                                                                        \
  FOREBAY_ENTRY void mpi_file_##name##_(MPI_Fint* fh, TYPED void* buffer, MPI_Fint* count, MPI_Fint* datatype,         \
                                        MPI_Fint* request, MPI_Fint* error) {                                          \
    MPI_Request started = MPI_REQUEST_NULL;                                                                            \
    fortran::give(error, MPI_File_##name(fortran::file(fh), PLAIN fortran::buffer(buffer), *count,                     \
                                         fortran::type(datatype), &started));                                          \
    *request = PMPI_Request_c2f(started);                                                                              \
  }
#define FOREBAY_SPLIT(name, TYPED, PLAIN)                                                                              \
  FOREBAY_ENTRY void mpi_file_##name##_begin_(MPI_Fint* fh, TYPED void* buffer, MPI_Fint* count, MPI_Fint* datatype,   \
                                              MPI_Fint* error) {                                                       \
    fortran::give(error, MPI_File_##name##_begin(fortran::file(fh), PLAIN fortran::buffer(buffer), *count,             \
                                                 fortran::type(datatype)));                                            \
  }                                                                                                                    \
  FOREBAY_ENTRY void mpi_file_##name##_end_(MPI_Fint* fh, void* buffer, MPI_Fint* status, MPI_Fint* error) {           \
    fortran::Status result(status);                                                                                    \
    fortran::give(error, MPI_File_##name##_end(fortran::file(fh), fortran::buffer(buffer), result));                   \
  }
#define FOREBAY_AT(FORM, name) FORM(name, FOREBAY_OFFSET_TYPED, FOREBAY_OFFSET)
#define FOREBAY_BY(FORM, name) FORM(name, , )
#define FOREBAY_OFFSET_TYPED MPI_Offset* offset,
#define FOREBAY_OFFSET *offset,

#define FOREBAY_ALL(verb)                          \
  FOREBAY_AT(FOREBAY_BLOCKING, verb##_at)          \
  FOREBAY_AT(FOREBAY_BLOCKING, verb##_at_all)      \
  FOREBAY_BY(FOREBAY_BLOCKING, verb)               \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_all)         \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_shared)      \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_ordered)     \
  FOREBAY_AT(FOREBAY_NONBLOCKING, i##verb##_at)    \
  FOREBAY_AT(FOREBAY_NONBLOCKING, i##verb##_at_all) \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb)         \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb##_all)   \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb##_shared) \
  FOREBAY_AT(FOREBAY_SPLIT, verb##_at_all)         \
  FOREBAY_BY(FOREBAY_SPLIT, verb##_all)            \
  FOREBAY_BY(FOREBAY_SPLIT, verb##_ordered)

FOREBAY_ALL(read)
FOREBAY_ALL(write)
// clang-format on

FOREBAY_ENTRY void mpi_init_(MPI_Fint* error) {
  int argc = 0;
  char** argv = nullptr;
  fortran::give(error, MPI_Init(&argc, &argv));
}

FOREBAY_ENTRY void mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  int argc = 0;
  char** argv = nullptr;
  fortran::give(error, MPI_Init_thread(&argc, &argv, *required, provided));
}

FOREBAY_ENTRY void mpi_file_open_(MPI_Fint* comm, char* name, MPI_Fint* amode, MPI_Fint* info, MPI_Fint* fh,
                                  MPI_Fint* error, int length) {
  MPI_File opened = MPI_FILE_NULL;
  const int code =
      MPI_File_open(PMPI_Comm_f2c(*comm), fortran::text(name, length).c_str(), *amode, fortran::info(info), &opened);
  if (code == MPI_SUCCESS) *fh = PMPI_File_c2f(opened);
  fortran::give(error, code);
}

FOREBAY_ENTRY void mpi_file_close_(MPI_Fint* fh, MPI_Fint* error) {
  MPI_File closed = fortran::file(fh);
  fortran::give(error, MPI_File_close(&closed));
  *fh = PMPI_File_c2f(closed);
}

FOREBAY_ENTRY void mpi_file_set_view_(MPI_Fint* fh, MPI_Offset* displacement, MPI_Fint* etype, MPI_Fint* filetype,
                                      char* representation, MPI_Fint* info, MPI_Fint* error, int length) {
  fortran::give(error,
                MPI_File_set_view(fortran::file(fh), *displacement, fortran::type(etype), fortran::type(filetype),
                                  fortran::text(representation, length).c_str(), fortran::info(info)));
}

FOREBAY_ENTRY void mpi_file_set_atomicity_(MPI_Fint* fh, MPI_Fint* flag, MPI_Fint* error) {
  fortran::give(error, MPI_File_set_atomicity(fortran::file(fh), fortran::logical(flag)));
}

// .true. is 1 for the compilers that Open MPI's libraries are made with here; others test a bit that 1 has, too.
FOREBAY_ENTRY void mpi_file_get_atomicity_(MPI_Fint* fh, MPI_Fint* flag, MPI_Fint* error) {
  int atomic = 0;
  fortran::give(error, MPI_File_get_atomicity(fortran::file(fh), &atomic));
  *flag = atomic != 0;
}

FOREBAY_ENTRY void mpi_file_set_info_(MPI_Fint* fh, MPI_Fint* info, MPI_Fint* error) {
  fortran::give(error, MPI_File_set_info(fortran::file(fh), fortran::info(info)));
}

FOREBAY_ENTRY void mpi_file_get_info_(MPI_Fint* fh, MPI_Fint* info, MPI_Fint* error) {
  MPI_Info used = MPI_INFO_NULL;
  fortran::give(error, MPI_File_get_info(fortran::file(fh), &used));
  *info = PMPI_Info_c2f(used);
}

FOREBAY_ENTRY void mpi_file_set_size_(MPI_Fint* fh, MPI_Offset* size, MPI_Fint* error) {
  fortran::give(error, MPI_File_set_size(fortran::file(fh), *size));
}

FOREBAY_ENTRY void mpi_file_preallocate_(MPI_Fint* fh, MPI_Offset* size, MPI_Fint* error) {
  fortran::give(error, MPI_File_preallocate(fortran::file(fh), *size));
}

FOREBAY_ENTRY void mpi_file_sync_(MPI_Fint* fh, MPI_Fint* error) {
  fortran::give(error, MPI_File_sync(fortran::file(fh)));
}

FOREBAY_ENTRY void mpi_file_seek_(MPI_Fint* fh, MPI_Offset* offset, MPI_Fint* whence, MPI_Fint* error) {
  fortran::give(error, MPI_File_seek(fortran::file(fh), *offset, *whence));
}

FOREBAY_ENTRY void mpi_file_seek_shared_(MPI_Fint* fh, MPI_Offset* offset, MPI_Fint* whence, MPI_Fint* error) {
  fortran::give(error, MPI_File_seek_shared(fortran::file(fh), *offset, *whence));
}

FOREBAY_ENTRY void mpi_file_get_position_(MPI_Fint* fh, MPI_Offset* offset, MPI_Fint* error) {
  fortran::give(error, MPI_File_get_position(fortran::file(fh), offset));
}

FOREBAY_ENTRY void mpi_file_get_position_shared_(MPI_Fint* fh, MPI_Offset* offset, MPI_Fint* error) {
  fortran::give(error, MPI_File_get_position_shared(fortran::file(fh), offset));
}

FOREBAY_ENTRY void mpi_file_get_byte_offset_(MPI_Fint* fh, MPI_Offset* offset, MPI_Offset* displacement,
                                             MPI_Fint* error) {
  fortran::give(error, MPI_File_get_byte_offset(fortran::file(fh), *offset, displacement));
}

#endif
