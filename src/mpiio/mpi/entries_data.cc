// Data access: every MPI function, with the four forms that an access has. The forms with the suffix _c are the same
// with MPI_Count.
#include "mpiio/mpi/entry.h"

using namespace forebay::lock::mpiio;

namespace {

Operation operation(bool writes, bool collective, Pointer pointer, MPI_Offset offset, const void* buffer,
                    MPI_Count count, MPI_Datatype datatype) {
  return {writes, collective, pointer, offset, const_cast<void*>(buffer), count, datatype};
}

}  // namespace

// clang-format off
// NAME, its arguments before the buffer with types and without, then what the operation is.
#define FOREBAY_BLOCKING(name, suffix, Count, Buffer, writes, collective, pointer, offset, TYPED, PLAIN)              \
  FOREBAY_ENTRY int MPI_File_##name##suffix(MPI_File fh, TYPED Buffer buffer, Count count, MPI_Datatype datatype,     \
                                            MPI_Status* status) {                                                     \
    if (const auto file = served(fh, pointer))                                                                        \
      return access_blocking(*file, operation(writes, collective, pointer, offset, buffer, count, datatype), status); \
    return PMPI_File_##name##suffix(fh, PLAIN buffer, count, datatype, status);                                       \
  }
#define FOREBAY_NONBLOCKING(name, suffix, Count, Buffer, writes, collective, pointer, offset, TYPED, PLAIN)           \
  FOREBAY_ENTRY int MPI_File_##name##suffix(MPI_File fh, TYPED Buffer buffer, Count count, MPI_Datatype datatype,     \
                                            MPI_Request* request) {                                                   \
    if (const auto file = served(fh, pointer))                                                                        \
      return access_nonblocking(*file, operation(writes, false, pointer, offset, buffer, count, datatype), request);  \
    return PMPI_File_##name##suffix(fh, PLAIN buffer, count, datatype, request);                                      \
  }
#define FOREBAY_SPLIT(name, suffix, Count, Buffer, writes, collective, pointer, offset, TYPED, PLAIN)                 \
  FOREBAY_ENTRY int MPI_File_##name##_begin##suffix(MPI_File fh, TYPED Buffer buffer, Count count,                    \
                                                    MPI_Datatype datatype) {                                          \
    if (const auto file = served(fh, pointer))                                                                        \
      return begin_split(*file, operation(writes, collective, pointer, offset, buffer, count, datatype));             \
    return PMPI_File_##name##_begin##suffix(fh, PLAIN buffer, count, datatype);                                       \
  }
#define FOREBAY_SPLIT_END(name, Buffer, pointer)                                                                      \
  FOREBAY_ENTRY int MPI_File_##name##_end(MPI_File fh, Buffer buffer, MPI_Status* status) {                           \
    if (const auto file = served(fh, pointer)) return end_split(*file, status);                                       \
    return PMPI_File_##name##_end(fh, buffer, status);                                                                \
  }

#define FOREBAY_AT(FORM, name, suffix, Count, Buffer, writes, collective) \
  FORM(name, suffix, Count, Buffer, writes, collective, Pointer::given, offset, FOREBAY_OFFSET_TYPED, FOREBAY_OFFSET)
#define FOREBAY_BY(FORM, name, suffix, Count, Buffer, writes, collective, pointer) \
  FORM(name, suffix, Count, Buffer, writes, collective, pointer, 0, , )
#define FOREBAY_OFFSET_TYPED MPI_Offset offset,
#define FOREBAY_OFFSET offset,

#define FOREBAY_ALL(verb, suffix, Count, Buffer, writes)                                                 \
  FOREBAY_AT(FOREBAY_BLOCKING, verb##_at, suffix, Count, Buffer, writes, false)                          \
  FOREBAY_AT(FOREBAY_BLOCKING, verb##_at_all, suffix, Count, Buffer, writes, true)                       \
  FOREBAY_BY(FOREBAY_BLOCKING, verb, suffix, Count, Buffer, writes, false, Pointer::individual)          \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_all, suffix, Count, Buffer, writes, true, Pointer::individual)     \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_shared, suffix, Count, Buffer, writes, false, Pointer::shared)     \
  FOREBAY_BY(FOREBAY_BLOCKING, verb##_ordered, suffix, Count, Buffer, writes, true, Pointer::ordered)    \
  FOREBAY_AT(FOREBAY_NONBLOCKING, i##verb##_at, suffix, Count, Buffer, writes, false)                    \
  FOREBAY_AT(FOREBAY_NONBLOCKING, i##verb##_at_all, suffix, Count, Buffer, writes, true)                 \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb, suffix, Count, Buffer, writes, false, Pointer::individual)    \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb##_all, suffix, Count, Buffer, writes, true, Pointer::individual) \
  FOREBAY_BY(FOREBAY_NONBLOCKING, i##verb##_shared, suffix, Count, Buffer, writes, false, Pointer::shared) \
  FOREBAY_AT(FOREBAY_SPLIT, verb##_at_all, suffix, Count, Buffer, writes, true)                          \
  FOREBAY_BY(FOREBAY_SPLIT, verb##_all, suffix, Count, Buffer, writes, true, Pointer::individual)        \
  FOREBAY_BY(FOREBAY_SPLIT, verb##_ordered, suffix, Count, Buffer, writes, true, Pointer::ordered)

FOREBAY_ALL(read, , int, void*, false)
FOREBAY_ALL(write, , int, const void*, true)
#if MPI_VERSION >= 4
FOREBAY_ALL(read, _c, MPI_Count, void*, false)
FOREBAY_ALL(write, _c, MPI_Count, const void*, true)
#endif

FOREBAY_SPLIT_END(read_at_all, void*, Pointer::given)
FOREBAY_SPLIT_END(read_all, void*, Pointer::individual)
FOREBAY_SPLIT_END(read_ordered, void*, Pointer::ordered)
FOREBAY_SPLIT_END(write_at_all, const void*, Pointer::given)
FOREBAY_SPLIT_END(write_all, const void*, Pointer::individual)
FOREBAY_SPLIT_END(write_ordered, const void*, Pointer::ordered)
// clang-format on
