/* Parts of a variable to read. Structures and numbers are those of ADIOS 1.13. */
#ifndef ADIOS_SELECTION_H
#define ADIOS_SELECTION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ADIOS_SELECTION_TYPE {
  ADIOS_SELECTION_BOUNDINGBOX = 0, /* a box of a global array */
  ADIOS_SELECTION_POINTS = 1,      /* single elements, in the order given */
  ADIOS_SELECTION_WRITEBLOCK = 2,  /* what one process wrote */
  ADIOS_SELECTION_AUTO = 3         /* whatever the way of reading likes: files like nothing */
};

typedef struct ADIOS_SELECTION_STRUCT ADIOS_SELECTION;

typedef struct {
  int ndim;
  uint64_t* start; /* 0-based, slowest dimension first; ndim of them */
  uint64_t* count;
} ADIOS_SELECTION_BOUNDINGBOX_STRUCT;

typedef struct {
  int ndim;                   /* 1 with a container_selection: places in it, which is taken as one line */
  int _free_points_on_delete; /* 0: the points are the caller's, and must live as long as the selection */
  uint64_t npoints;
  uint64_t* points;                     /* ndim numbers for each point */
  ADIOS_SELECTION* container_selection; /* what the points are counted from: a box, a block, or NULL */
} ADIOS_SELECTION_POINTS_STRUCT;

typedef struct {
  int index;               /* of the blocks of the step, or of all steps */
  int is_absolute_index;   /* whether it is of all steps */
  int is_sub_pg_selection; /* whether only nelements elements from element_offset on are meant */
  uint64_t element_offset;
  uint64_t nelements;
} ADIOS_SELECTION_WRITEBLOCK_STRUCT;

typedef struct {
  char* hints;
} ADIOS_SELECTION_AUTO_STRUCT;

struct ADIOS_SELECTION_STRUCT {
  enum ADIOS_SELECTION_TYPE type;
  union {
    ADIOS_SELECTION_BOUNDINGBOX_STRUCT bb;
    ADIOS_SELECTION_POINTS_STRUCT points;
    ADIOS_SELECTION_WRITEBLOCK_STRUCT block;
    ADIOS_SELECTION_AUTO_STRUCT autosel;
  } u;
};

#ifndef __INCLUDED_FROM_FORTRAN_API__

/* A selection, which adios_selection_delete() frees. NULL with adios_errno err_no_memory or err_invalid_argument (a
 * NULL array, ndim below 0). start and count are copied, points and what contains them are not. */
ADIOS_SELECTION* adios_selection_boundingbox(int ndim, const uint64_t* start, const uint64_t* count);
ADIOS_SELECTION* adios_selection_points(int ndim, uint64_t npoints, const uint64_t* points);
ADIOS_SELECTION* adios_selection_writeblock(int index);
ADIOS_SELECTION* adios_selection_auto(char* hints);

/* NULL is allowed. */
void adios_selection_delete(ADIOS_SELECTION* selection);

/* Of points counted along a box: their indices in the box, or with `global` in the array. NULL with
 * err_invalid_selection if they are none of that kind. */
ADIOS_SELECTION* adios_selection_points_1DtoND(ADIOS_SELECTION* pointsinbox1D, int global);

#endif

#ifdef __cplusplus
}
#endif

#endif
