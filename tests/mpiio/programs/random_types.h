// Random filetypes of ints: constructors over constructors, from a seed, the same on every rank that asks.
#pragma once

#include <stdint.h>

#include "check.h"

static inline uint64_t random_next(uint64_t* state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// From `low` to `high`, both included.
static inline int random_in(uint64_t* state, int low, int high) {
  return low + (int)(random_next(state) % (uint64_t)(high - low + 1));
}

// Types without blocks of no length, beginning at 0: with others ROMIO 4.0 loops for ever.
static int random_simple = 0;

static inline int random_extent(MPI_Datatype type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  return (int)(extent / (MPI_Aint)sizeof(int));
}

static inline MPI_Datatype random_array(uint64_t* state, MPI_Datatype child, int distributed) {
  int sizes[3], parts[3], starts[3], how[3], by[3], dims[3];
  const int dimensions = random_in(state, 1, 3), order = random_in(state, 0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  int ranks = 1;
  MPI_Datatype type;
  for (int i = 0; i < dimensions; ++i) {
    sizes[i] = random_in(state, 2, 6);
    parts[i] = random_in(state, 1, sizes[i]);
    starts[i] = random_in(state, 0, sizes[i] - parts[i]);
    how[i] = random_in(state, 0, 1) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
    by[i] = how[i] == MPI_DISTRIBUTE_CYCLIC && random_in(state, 0, 1) ? 2 : MPI_DISTRIBUTE_DFLT_DARG;
    dims[i] = random_in(state, 1, 2);
    ranks *= dims[i];
  }
  if (distributed) {
    const int rank = random_in(state, 0, ranks - 1);
    MPI_Type_create_darray(ranks, rank, dimensions, sizes, how, by, dims, order, child, &type);
  } else {
    MPI_Type_create_subarray(dimensions, sizes, parts, starts, order, child, &type);
  }
  return type;
}

static inline MPI_Datatype random_blocks(uint64_t* state, MPI_Datatype child, int which) {
  int lengths[4], displacements[4];
  MPI_Aint bytes[4];
  MPI_Datatype types[4], type;
  const int blocks = random_in(state, 1, 4), extent = random_extent(child), same = random_in(state, 1, 3);
  int next = 0;
  for (int i = 0; i < blocks; ++i) {
    lengths[i] = which == 1 ? same : random_in(state, random_simple, 3);
    displacements[i] = next + random_in(state, 0, 3);
    next = displacements[i] + lengths[i];
    bytes[i] = (MPI_Aint)sizeof(int) * (displacements[i] * extent + i);  // blocks that lie off the child's raster
    types[i] = child;
  }
  lengths[0] = which == 1 ? same : lengths[0] + (lengths[0] == 0);
  if (blocks > 1 && displacements[1] < displacements[0] + lengths[0]) return MPI_DATATYPE_NULL;
  if (which == 0) MPI_Type_indexed(blocks, lengths, displacements, child, &type);
  if (which == 1) MPI_Type_create_indexed_block(blocks, same, displacements, child, &type);
  if (which == 2) MPI_Type_create_hindexed(blocks, lengths, bytes, child, &type);
  if (which == 3) MPI_Type_create_struct(blocks, lengths, bytes, types, &type);
  return type;
}

static inline MPI_Datatype random_around(uint64_t* state, MPI_Datatype child) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int extent = random_extent(child), which = random_in(state, 0, 9), length = random_in(state, 1, 3);
  switch (which) {
    case 0:
      MPI_Type_contiguous(random_in(state, 1, 6), child, &type);
      break;
    case 1:
      MPI_Type_vector(random_in(state, 1, 8), length, length + random_in(state, 0, 4), child, &type);
      break;
    case 2:
      MPI_Type_create_hvector(random_in(state, 1, 8), length,
                              (MPI_Aint)sizeof(int) * (length * extent + random_in(state, 0, 5)), child, &type);
      break;
    case 3:
    case 4:
    case 5:
    case 6:
      type = random_blocks(state, child, which - 3);
      break;
    case 7:
      MPI_Type_create_resized(child, 0, (MPI_Aint)sizeof(int) * (extent + random_in(state, 0, 6)), &type);
      break;
    default:
      type = random_array(state, child, which == 9);
  }
  return type;
}

static inline MPI_Datatype random_from_zero(MPI_Datatype type) {
  MPI_Aint lower, extent, true_lower, true_extent;
  MPI_Datatype resized;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &true_lower, &true_extent);
  const MPI_Aint end = lower + extent > true_lower + true_extent ? lower + extent : true_lower + true_extent;
  MPI_Type_create_resized(type, 0, end, &resized);
  MPI_Type_free(&type);
  return resized;
}

// Of at most `words` ints from its beginning to its end, with at least one int; committed.
static inline MPI_Datatype random_type(uint64_t* state, int words) {
  MPI_Datatype type, wrapped;
  MPI_Type_contiguous(1, MPI_INT, &type);
  const int layers = random_in(state, 1, 3);
  for (int layer = 0; layer < layers; ++layer) {
    int size = 0;
    wrapped = random_around(state, type);
    if (wrapped == MPI_DATATYPE_NULL) continue;
    MPI_Type_size(wrapped, &size);
    if (random_simple) wrapped = random_from_zero(wrapped);
    if (size > 0 && random_extent(wrapped) > 0 && random_extent(wrapped) <= words) {
      MPI_Type_free(&type);
      type = wrapped;
    } else {
      MPI_Type_free(&wrapped);
    }
  }
  MPI_Type_commit(&type);
  return type;
}
