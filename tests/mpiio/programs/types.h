// Datatypes of every combiner, with holes, lower bounds and nesting.
#pragma once

#include "check.h"

enum { types_easy = 14, types_count = 20 };

static inline MPI_Datatype types_commit(MPI_Datatype type, MPI_Datatype* old) {
  if (old != NULL) MPI_Type_free(old);
  MPI_Type_commit(&type);
  return type;
}

static inline MPI_Datatype types_struct(MPI_Datatype first, MPI_Aint hole, MPI_Datatype second) {
  MPI_Aint lower, extent;
  MPI_Type_get_true_extent(first, &lower, &extent);
  const int lengths[2] = {1, 1};
  const MPI_Aint displacements[2] = {0, lower + extent + hole};
  const MPI_Datatype types[2] = {first, second};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, displacements, types, &type);
  return type;
}

// Displacements do not fall, so that all of them may be filetypes, too.
static inline MPI_Datatype types_make(int which) {
  static const int sizes[3] = {5, 6, 7}, parts[3] = {2, 3, 4}, starts[3] = {1, 2, 3};
  static const int lengths[4] = {2, 0, 3, 1}, displacements[4] = {1, 4, 6, 11};
  static const MPI_Aint bytes[4] = {3, 20, 41, 66};
  static const int block[3] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  static const int by[3] = {MPI_DISTRIBUTE_DFLT_DARG, 2, MPI_DISTRIBUTE_DFLT_DARG};
  static const int dims[3] = {1, 2, 1};
  MPI_Datatype a, b;
  switch (which) {
    case 0:
      return types_commit((MPI_Type_contiguous(7, MPI_SHORT, &a), a), NULL);
    case 1:
      return types_commit((MPI_Type_vector(4, 2, 5, MPI_INT, &a), a), NULL);
    case 2:
      return types_commit((MPI_Type_create_hvector(5, 3, 17, MPI_CHAR, &a), a), NULL);
    case 3:
      return types_commit((MPI_Type_indexed(4, lengths, displacements, MPI_INT, &a), a), NULL);
    case 4:
      return types_commit((MPI_Type_create_hindexed(4, lengths, bytes, MPI_SHORT, &a), a), NULL);
    case 5:
      return types_commit((MPI_Type_create_indexed_block(4, 2, displacements + 0, MPI_CHAR, &a), a), NULL);
    case 6:
      return types_commit((MPI_Type_create_hindexed_block(4, 5, bytes, MPI_BYTE, &a), a), NULL);
    case 7:
      return types_commit(types_struct(MPI_INT, 3, MPI_DOUBLE), NULL);
    case 8:
      return types_commit((MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_SHORT, &a), a), NULL);
    case 9:
      return types_commit((MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &a), a), NULL);
    case 10:
      MPI_Type_create_darray(2, 0, 3, sizes, block, by, dims, MPI_ORDER_C, MPI_INT, &a);
      return types_commit(a, NULL);
    case 11:
      MPI_Type_create_darray(2, 1, 3, sizes, block, by, dims, MPI_ORDER_FORTRAN, MPI_CHAR, &a);
      return types_commit(a, NULL);
    case 15:
      return types_commit((MPI_Type_create_resized(MPI_INT, -3, 11, &a), a), NULL);
    case 17:
      MPI_Type_vector(3, 1, 2, MPI_SHORT_INT, &a);
      return types_commit(a, NULL);
    case 18:
      return types_commit((MPI_Type_contiguous(3, MPI_DOUBLE_INT, &a), a), NULL);
    case 13:
      a = types_make(1);
      MPI_Type_create_hvector(2, 2, 200, a, &b);
      return types_commit(b, &a);
    case 16:
      a = types_make(15);
      MPI_Type_indexed(4, lengths, displacements, a, &b);
      return types_commit(b, &a);
    case 19:
      a = types_make(8);
      b = types_struct(a, 9, MPI_LONG_INT);
      return types_commit(b, &a);
    case 14:
      a = types_make(3);
      MPI_Type_create_resized(a, 2, 100, &b);
      return types_commit(b, &a);
    case 12:
      MPI_Type_dup(MPI_INT, &a);
      MPI_Type_vector(2, 1, 3, a, &b);
      return types_commit(b, &a);
    default:
      MPI_Abort(MPI_COMM_WORLD, 2);
      return MPI_DATATYPE_NULL;
  }
}
