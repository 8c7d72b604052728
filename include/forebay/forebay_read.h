/* Reading what Forebay stored, in the library libforebay_read: any part of any array of any step, whichever ranks wrote
 * it, by any number of processes (docs/reading.md).
 *
 * A run has steps: the sets of one series of a store, numbered from 0, oldest first. A step has arrays, and an array
 * has blocks that ranks wrote. An array is global (blocks are boxes of it), local (each block is an array of its own)
 * or a scalar. A complete program, which prints the mean of a plane of the newest step:
 *
 *     #include <stdio.h>
 *     #include <stdlib.h>
 *
 *     #include <forebay/forebay_read.h>
 *
 *     static void check(int code) {
 *       if (code == FOREBAY_OK) return;
 *       fprintf(stderr, "%s\n", forebay_message());
 *       exit(1);
 *     }
 *
 *     int main(int argc, char** argv) {
 *       forebay_read_run* run;
 *       forebay_read_step* step;
 *       forebay_read_plan* plan;
 *       const forebay_read_array* array;
 *       size_t number, i, size;
 *       uint64_t begin[3] = {0, 0, 0}, count[3];
 *       double *plane, sum = 0;
 *       if (argc != 3) return 2;
 *       check(forebay_read_open(argv[1], NULL, &run));
 *       check(forebay_read_open_step(run, -1, &step));
 *       check(forebay_read_find(step, argv[2], &number));
 *       check(forebay_read_inquire_array(step, number, &array));
 *       if (array->type != FOREBAY_READ_FLOAT64 || array->dimensions != 3) return 3;
 *       begin[2] = array->shape[2] / 2;
 *       count[0] = array->shape[0];
 *       count[1] = array->shape[1];
 *       count[2] = 1;
 *       size = count[0] * count[1];
 *       plane = calloc(size, sizeof *plane);
 *       check(forebay_read_plan_new(&plan));
 *       check(forebay_read_plan_box(plan, step, number, 3, begin, count, NULL, plane, size * sizeof *plane));
 *       check(forebay_read_perform(plan));
 *       for (i = 0; i < size; ++i) sum += plane[i];
 *       printf("%.17g\n", sum / (double)size);
 *       free(plane);
 *       forebay_read_plan_free(plan);
 *       forebay_read_close_step(step);
 *       forebay_read_close(run);
 *       return 0;
 *     }
 *
 * Link with -lforebay_read -lforebay (pkg-config forebay-read).
 *
 * The processes of an MPI program open the run each for itself and read what they want; nothing is shared but the
 * files.
 *
 * Functions that can fail return FOREBAY_OK or another code of forebay.h, and forebay_message() says why. None prints,
 * exits, aborts or throws. A read decodes with several threads, which have ended when the call returns. Every byte that
 * is read is checked. Pointers that a function is given are used until it returns, but for those that
 * forebay_read_plan_box() and its like keep. Any function gives ARGUMENT where a pointer is NULL that may not be, and
 * FAILED for a system's error or where memory is used up. Shapes, begins, counts and strides are in elements, one for
 * each dimension, the slowest first (as C has them). Times are milliseconds. In a child of fork() nothing may be used
 * that the parent opened.
 *
 * Structures may get further members at their ends. Those that a function fills or takes begin with their size, which
 * the caller sets; all others are the library's, and are read through the pointer that a function gives. */
#ifndef FOREBAY_FOREBAY_READ_H
#define FOREBAY_FOREBAY_READ_H

#include <stddef.h>
#include <stdint.h>

#include "forebay/forebay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A run that is open. Thread-safe. Frames that were decoded are kept, and the indices of 16 steps, as the memory
 * allows: one run is enough for a process. */
typedef struct forebay_read_run forebay_read_run;

/* How to read. All members but the first are 0 for the defaults: forebay_read_options options = {sizeof options}; */
typedef struct forebay_read_options {
  size_t size;           /* of this structure, in bytes: sizeof(forebay_read_options) */
  uint64_t memory_bytes; /* for indices, kept frames and reading together; 0: a quarter of the machine's */
  unsigned threads;      /* that decode; 0: one for each core. Of several processes on a node each has its own */
  int stored;            /* not 0: values are what files store, without regard to what their attributes (_FillValue,
                            missing_value, valid_range, scale_factor, add_offset, _Unsigned) say that these mean
                            (docs/reading.md, "Holes and packed values"), and of the types that are stored */
  const char* series;    /* of the store's series the one to read; NULL: the only one */
  const char* set;       /* this set alone, or "latest": the run has one step; NULL: all sets of the series */
  const char* layout; /* the text of a TOML that says where blocks lie (docs/reading.md, "Layouts"); NULL: found out */
} forebay_read_options;

/* Opens the run in `path`: a store, a file that grows, or a BP file of ADIOS 1.9 to 1.13. `options` may be NULL. Codes:
 * NOT_FOUND (no store, no such series or set, or no set at all), ARGUMENT (the store has several series, and
 * none is given; or the layout, whose line the text names; or the options have no size), DAMAGED, LIMIT, UNSUPPORTED
 * (also where the options have members that a newer version understands, and that are not 0), FAILED. On success *run
 * is to be given to forebay_read_close(); after an error it is NULL. Thread-safe. */
FOREBAY_API int forebay_read_open(const char* path, const forebay_read_options* options, forebay_read_run** run);

/* Closes the run; steps that are open stay so. NULL is ignored. No other thread may use it any more. */
FOREBAY_API void forebay_read_close(forebay_read_run* run);

/* How many steps are known. A set that is damaged is a step, too, which cannot be opened: the others keep their
 * numbers. Those that others add since are seen by forebay_read_follow() only; those that others remove stay in the
 * list, and can no longer be opened. 0 if `run` is NULL. */
FOREBAY_API uint64_t forebay_read_steps(const forebay_read_run* run);

/* Waits until there are more than `known` steps, at once if there are already; *steps becomes their number. New steps
 * come behind the others. Looks several times a second, until `timeout_ms` is over (< 0: for ever; 0: looks once).
 * Codes: TIMEOUT (*steps is set all the same), FAILED, DAMAGED. */
FOREBAY_API int forebay_read_follow(forebay_read_run* run, uint64_t known, int64_t timeout_ms, uint64_t* steps);

/* A step that is open. Thread-safe. May outlive its run. */
typedef struct forebay_read_step forebay_read_step;

/* Opens step `number`, counted from 0, or from the last one that is known with -1, -2 and so on. Codes: NOT_FOUND (no
 * such step), GONE, DAMAGED (the text names its set; to go on without it is the caller's choice), LIMIT, UNSUPPORTED
 * (by a newer version), FAILED. On success *step is to be given to forebay_read_close_step(); after an error it is
 * NULL. */
FOREBAY_API int forebay_read_open_step(const forebay_read_run* run, int64_t number, forebay_read_step** step);

/* Closes the step, which no plan may use any more that is yet to be performed. Pointers that were got of it are
 * invalid from then on. NULL is ignored. */
FOREBAY_API void forebay_read_close_step(forebay_read_step* step);

typedef struct forebay_read_step_info {
  uint64_t number; /* from 0 */
  const char* set; /* the set that it lies in */
  int has_step;    /* whether `step` is known */
  int64_t step;    /* as the program or the set's name counts it */
  int has_time;    /* whether `time` is known */
  double time;     /* of the simulation */
  size_t arrays;   /* the number of its arrays */
} forebay_read_step_info;

/* The facts about the step, until it is closed. Codes: ARGUMENT. */
FOREBAY_API int forebay_read_inquire_step(const forebay_read_step* step, const forebay_read_step_info** info);

/* Types of elements. Numbers come in the machine's byte order, whatever they are stored in. */
enum {
  FOREBAY_READ_OTHER = 0, /* anything else: bytes as they are stored, the name of the type has their number */
  FOREBAY_READ_INT8 = 1,
  FOREBAY_READ_INT16 = 2,
  FOREBAY_READ_INT32 = 3,
  FOREBAY_READ_INT64 = 4,
  FOREBAY_READ_UINT8 = 5,
  FOREBAY_READ_UINT16 = 6,
  FOREBAY_READ_UINT32 = 7,
  FOREBAY_READ_UINT64 = 8,
  FOREBAY_READ_FLOAT16 = 9,
  FOREBAY_READ_FLOAT32 = 10,
  FOREBAY_READ_FLOAT64 = 11,
  FOREBAY_READ_LONG_DOUBLE = 12,
  FOREBAY_READ_COMPLEX64 = 13,  /* two float32 */
  FOREBAY_READ_COMPLEX128 = 14, /* two float64 */
  FOREBAY_READ_STRING = 15      /* an element is one byte of it */
};

enum { FOREBAY_READ_SCALAR = 0, FOREBAY_READ_GLOBAL = 1, FOREBAY_READ_LOCAL = 2 };

/* Facts about values that are known without reading them. Integers are taken as doubles; min to sum_of_squares are of
 * the `count` finite values, and 0 if that is 0. */
typedef struct forebay_read_values {
  uint64_t count, nans, infinities;
  double min, max, sum, sum_of_squares;
} forebay_read_values;

/* An array of a step. */
typedef struct forebay_read_array {
  const char* name;
  int type;              /* FOREBAY_READ_INT8, ... */
  const char* type_name; /* "float64", "int32", "string", "x24" */
  uint64_t element_bytes;
  int form;                          /* FOREBAY_READ_SCALAR, _GLOBAL or _LOCAL */
  size_t dimensions;                 /* 0 of a scalar */
  const uint64_t* shape;             /* of a global array the whole; of a local one the first block's */
  uint64_t blocks;                   /* the number of blocks that ranks wrote of it */
  int level;                         /* of refinement, 0 the coarsest; -1 if the array has none */
  const forebay_read_values* values; /* of all blocks together; NULL: not known */
} forebay_read_array;

/* Array `array` of the step, from 0 on, in the order of names; until the step is closed. Reads nothing. Codes: ARGUMENT
 * (there is none). */
FOREBAY_API int forebay_read_inquire_array(const forebay_read_step* step, size_t array,
                                           const forebay_read_array** facts);

/* The array of that name; with or without a '/' in front. Codes: NOT_FOUND, with names that are near in the text. */
FOREBAY_API int forebay_read_find(const forebay_read_step* step, const char* name, size_t* array);

/* A block of an array, as one rank wrote it. begin and count have as many elements as the array has dimensions. */
typedef struct forebay_read_block {
  uint32_t rank;
  const uint64_t*
      begin; /* in a global array; else 0. Of a block whose elements lie at listed indices, the first is 0 */
  const uint64_t* count;
  size_t dimensions;
  const forebay_read_values* values; /* NULL: not known */
} forebay_read_block;

/* Block `block` of an array, in the order in which they were written: where two overlap, the later one counts;
 * until the step is closed. Codes: ARGUMENT (there is none), DAMAGED, GONE, LIMIT, FAILED. */
FOREBAY_API int forebay_read_inquire_block(const forebay_read_step* step, size_t array, uint64_t block,
                                           const forebay_read_block** facts);

/* An attribute. */
typedef struct forebay_read_attribute {
  const char* name;
  const char* variable; /* not empty: it has the value of this variable, and none of its own */
  int type;
  const char* type_name;
  uint64_t count;    /* of elements; of texts their number */
  const void* value; /* in the machine's byte order; of several texts each ends with a 0, of one there is none */
  size_t bytes;
} forebay_read_attribute;

/* The number of the step's attributes. The first call for a step, of this function or the next one, reads them, which
 * takes as long as reading what lies around them in files. Codes: ARGUMENT, FAILED. */
FOREBAY_API int forebay_read_attributes(const forebay_read_step* step, size_t* count);

/* Attribute `attribute` of the step, from 0 on; until the step is closed. Codes: ARGUMENT (there is none), FAILED. */
FOREBAY_API int forebay_read_inquire_attribute(const forebay_read_step* step, size_t attribute,
                                               const forebay_read_attribute** facts);

/* Selections of any arrays of any steps that are read together: each frame that any of them needs is read once, those
 * that lie side by side with one call. Used by one thread at a time; different plans by different threads at once. */
typedef struct forebay_read_plan forebay_read_plan;

/* Makes an empty plan, which is to be given to forebay_read_plan_free(). */
FOREBAY_API int forebay_read_plan_new(forebay_read_plan** plan);

/* Adds a box of an array: count[d] elements from begin[d] on, every stride[d]-th. `stride` may be NULL: all; `begin`
 * and `count` may both be NULL, without a stride: the whole array. `dimensions` is the number of elements of these. A
 * local array with several blocks has no box: use forebay_read_plan_block(). `out` takes them, dense and in C order; it
 * has `bytes` bytes, just as many as the selection, and stays the caller's, who keeps it until forebay_read_perform().
 * Selections are numbered from 0 in the order in which they are added. Codes: ARGUMENT (outside of the array, not as
 * many dimensions, or not as many bytes: the text has the right number; nothing is added), and of blocks that have
 * to be looked at DAMAGED, GONE, LIMIT, FAILED. */
FOREBAY_API int forebay_read_plan_box(forebay_read_plan* plan, const forebay_read_step* step, size_t array,
                                      size_t dimensions, const uint64_t* begin, const uint64_t* count,
                                      const uint64_t* stride, void* out, size_t bytes);

/* Adds single elements of a global array: `points` times as many indices as it has dimensions, which are copied. The
 * elements come in the order of the points. Otherwise as forebay_read_plan_box(). */
FOREBAY_API int forebay_read_plan_points(forebay_read_plan* plan, const forebay_read_step* step, size_t array,
                                         size_t dimensions, const uint64_t* indices, uint64_t points, void* out,
                                         size_t bytes);

/* Adds a block as it was written, or a box of it, counted from its first element: `begin` and `count` may both be NULL.
 * Otherwise as forebay_read_plan_box(). */
FOREBAY_API int forebay_read_plan_block(forebay_read_plan* plan, const forebay_read_step* step, size_t array,
                                        uint64_t block, size_t dimensions, const uint64_t* begin, const uint64_t* count,
                                        void* out, size_t bytes);

/* Reads everything that was added since the last call. OK if all of it could be read; else what became of the first
 * selection that could not (DAMAGED, GONE, LIMIT, FAILED), and the others are read all the same:
 * forebay_read_outcome() gives it for each. Elements that no rank has written are left in `out` as they were. */
FOREBAY_API int forebay_read_perform(forebay_read_plan* plan);

/* The outcome of a selection of those that were performed last: OK, or why it failed, which forebay_message() then
 * says too; what its `out` holds is then undefined. *holes, if not NULL, is the number of its elements that no rank has
 * written. ARGUMENT if there is no such selection. */
FOREBAY_API int forebay_read_outcome(const forebay_read_plan* plan, size_t selection, uint64_t* holes);

typedef struct forebay_read_cost {
  uint64_t read_bytes;    /* of containers */
  uint64_t decoded_bytes; /* as they were before they were compressed */
  uint64_t frames;        /* that were decoded */
  uint64_t cached;        /* that were found decoded */
} forebay_read_cost;

/* The costs of the last forebay_read_perform(), until the next one or the end of the plan. Codes: ARGUMENT. */
FOREBAY_API int forebay_read_inquire_cost(const forebay_read_plan* plan, const forebay_read_cost** cost);

/* Frees the plan; what was not performed is not read. NULL is ignored. */
FOREBAY_API void forebay_read_plan_free(forebay_read_plan* plan);

enum {
  FOREBAY_READ_QUERY_VALUES = 1, /* read the values of what the indices leave, and report elements */
  FOREBAY_READ_QUERY_FIRST = 2   /* stop behind the first step in which the query holds; without values: may hold */
};

/* A box in which a query may hold, or with FOREBAY_READ_QUERY_VALUES an element for which it does. Its pointers are
 * invalid when the function that was called returns. */
typedef struct forebay_read_match {
  uint64_t number; /* of the step, from 0 */
  const char* set; /* the set that the step lies in */
  int has_time;    /* whether `time` is known */
  double time;
  const uint32_t* ranks; /* that wrote it, rising */
  size_t rank_count;
  size_t dimensions;     /* 0 of a scalar */
  const uint64_t* begin; /* in the global array, else in the rank's own: the box's first element, or the element */
  const uint64_t* count; /* of the box; of an element 1 in each dimension */
  int everywhere;        /* whether it holds for all elements of the box */
  const double* values; /* of an element, of each variable in the order of the query; of a box NULL. Integers of 64 bits
                           are rounded */
  size_t variables;
} forebay_read_match;

/* How much a query looked at. Filled as far as `size` says. */
typedef struct forebay_read_query_summary {
  size_t size;                 /* of this structure, in bytes, set by the caller */
  uint64_t steps, steps_found; /* looked at; and those in which it may hold, with values: holds */
  uint64_t blocks, candidates; /* of the query's variables; and the boxes that their indices left */
  uint64_t elements;           /* for which it holds, with values */
  uint64_t failures;           /* steps and boxes that could not be read */
  uint64_t value_bytes;        /* of all these blocks */
  uint64_t read_bytes, decoded_bytes, frames, cached; /* of reading values, as in forebay_read_cost; 0 without */
} forebay_read_query_summary;

/* Finds in which of the steps [begin, end) a query holds, such as "temperature > 1e6 and density < 0.1"
 * (docs/reading.md, "Queries"): calls `match` with `context`, from this thread, for each box, or element, in the order
 * of steps. `end` may be UINT64_MAX. `match` and `summary` may be NULL; `match` must not throw, or call this for the
 * same run. Codes: ARGUMENT (the text says at which character the query makes no sense; or its variables have no
 * elements in common; or the summary has no size), NOT_FOUND (no step has one of the variables), UNSUPPORTED (it has no
 * numbers). Where a step or a box cannot be read the others are reported all the same, *summary too, and what became of
 * the first that cannot is returned: DAMAGED, GONE, LIMIT, FAILED. */
typedef void (*forebay_read_match_fn)(void* context, const forebay_read_match* match);
FOREBAY_API int forebay_read_query(const forebay_read_run* run, const char* query, uint64_t begin, uint64_t end,
                                   unsigned flags, forebay_read_match_fn match, void* context,
                                   forebay_read_query_summary* summary);

#ifdef __cplusplus
}
#endif

#endif
