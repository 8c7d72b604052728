// One write or read of each kind that MPI has, so that a program can do the same with all of them.
#pragma once

#include "check.h"

enum access_kind {
  access_at,
  access_individual,
  access_nonblocking_at,
  access_nonblocking,
  access_independent_kinds,  // the kinds before it need nobody else
  access_at_all = access_independent_kinds,
  access_all,
  access_nonblocking_at_all,
  access_nonblocking_all,
  access_split_at_all,
  access_split_all,
  access_kinds
};

static const char* const access_names[access_kinds] = {
    "at", "individual", "i_at", "i", "at_all", "all", "i_at_all", "i_all", "split at_all", "split all"};

static inline int access_moves_pointer(int kind) {
  return kind == access_individual || kind == access_nonblocking || kind == access_all ||
         kind == access_nonblocking_all || kind == access_split_all;
}

static inline int access_wait(int code, MPI_Request* request, MPI_Status* status) {
  return code != MPI_SUCCESS ? code : MPI_Wait(request, status);
}

// At `offset` etypes of the view; kinds that use the individual pointer seek there.
static inline int access_write(MPI_File file, int kind, MPI_Offset offset, const void* data, int count,
                               MPI_Datatype type, MPI_Status* status) {
  MPI_Request request;
  int code = MPI_SUCCESS;
  if (access_moves_pointer(kind)) code = MPI_File_seek(file, offset, MPI_SEEK_SET);
  if (code != MPI_SUCCESS) return code;
  switch (kind) {
    case access_at:
      return MPI_File_write_at(file, offset, data, count, type, status);
    case access_individual:
      return MPI_File_write(file, data, count, type, status);
    case access_nonblocking_at:
      return access_wait(MPI_File_iwrite_at(file, offset, data, count, type, &request), &request, status);
    case access_nonblocking:
      return access_wait(MPI_File_iwrite(file, data, count, type, &request), &request, status);
    case access_at_all:
      return MPI_File_write_at_all(file, offset, data, count, type, status);
    case access_all:
      return MPI_File_write_all(file, data, count, type, status);
    case access_nonblocking_at_all:
      return access_wait(MPI_File_iwrite_at_all(file, offset, data, count, type, &request), &request, status);
    case access_nonblocking_all:
      return access_wait(MPI_File_iwrite_all(file, data, count, type, &request), &request, status);
    case access_split_at_all:
      code = MPI_File_write_at_all_begin(file, offset, data, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_write_at_all_end(file, data, status);
    case access_split_all:
      code = MPI_File_write_all_begin(file, data, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_write_all_end(file, data, status);
  }
  return MPI_ERR_ARG;
}

static inline int access_read(MPI_File file, int kind, MPI_Offset offset, void* data, int count, MPI_Datatype type,
                              MPI_Status* status) {
  MPI_Request request;
  int code = MPI_SUCCESS;
  if (access_moves_pointer(kind)) code = MPI_File_seek(file, offset, MPI_SEEK_SET);
  if (code != MPI_SUCCESS) return code;
  switch (kind) {
    case access_at:
      return MPI_File_read_at(file, offset, data, count, type, status);
    case access_individual:
      return MPI_File_read(file, data, count, type, status);
    case access_nonblocking_at:
      return access_wait(MPI_File_iread_at(file, offset, data, count, type, &request), &request, status);
    case access_nonblocking:
      return access_wait(MPI_File_iread(file, data, count, type, &request), &request, status);
    case access_at_all:
      return MPI_File_read_at_all(file, offset, data, count, type, status);
    case access_all:
      return MPI_File_read_all(file, data, count, type, status);
    case access_nonblocking_at_all:
      return access_wait(MPI_File_iread_at_all(file, offset, data, count, type, &request), &request, status);
    case access_nonblocking_all:
      return access_wait(MPI_File_iread_all(file, data, count, type, &request), &request, status);
    case access_split_at_all:
      code = MPI_File_read_at_all_begin(file, offset, data, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_read_at_all_end(file, data, status);
    case access_split_all:
      code = MPI_File_read_all_begin(file, data, count, type);
      return code != MPI_SUCCESS ? code : MPI_File_read_all_end(file, data, status);
  }
  return MPI_ERR_ARG;
}

// The image that `count` instances of `type` make of these packed bytes, as MPI itself unpacks them: what a write of
// them through a view with that filetype has to leave in the file. Sizes are of native bytes.
static inline void access_unpack(const void* packed, int size, void* image, int count, MPI_Datatype type) {
  int position = 0;
  OK(MPI_Unpack(packed, size, &position, image, count, type, MPI_COMM_SELF));
}

static inline void access_pack(const void* image, int count, MPI_Datatype type, void* packed, int size) {
  int position = 0;
  OK(MPI_Pack(image, count, type, packed, size, &position, MPI_COMM_SELF));
}
