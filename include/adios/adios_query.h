/* ADIOS 1.x's queries: where arrays that were written fulfil conditions. Structures and numbers are those of
 * ADIOS 1.13.
 *
 *   ADIOS_QUERY* hot = adios_query_create(f, box, "temperature", ADIOS_GT, "1e6");
 *   ADIOS_QUERY* thin = adios_query_create(f, box, "density", ADIOS_LT, "0.1");
 *   ADIOS_QUERY* both = adios_query_combine(hot, ADIOS_QUERY_OP_AND, thin);
 *   ADIOS_QUERY_RESULT* found;
 *   do {
 *     found = adios_query_evaluate(both, box, step, 1000);
 *     ...
 *   } while (found->status == ADIOS_QUERY_HAS_MORE_RESULTS);
 *
 * Of files that were opened with adios_read_open_file() any step can be asked for, of others the current one, which is
 * 0. Nothing is collective: each process asks for itself. One thread at a time may use a query and its file, which must
 * stay open as long as the query is used. Errors are reported by adios_errno and adios_errmsg(). */
#ifndef ADIOS_QUERY_H
#define ADIOS_QUERY_H

#include <adios_read.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a query is answered. MINMAX: with the blocks that processes wrote whose smallest and largest values allow hits,
 * from indices alone. The others, and UNKNOWN, which is what a query has at first: with the points that really are
 * hits; only blocks that MINMAX would name are read. There is no FastBit or ALACRITY: their names stand for points. */
enum ADIOS_QUERY_METHOD {
  ADIOS_QUERY_METHOD_MINMAX = 0,
  ADIOS_QUERY_METHOD_FASTBIT = 1,
  ADIOS_QUERY_METHOD_ALACRITY = 2,
  ADIOS_QUERY_METHOD_UNKNOWN = 3,
  ADIOS_QUERY_METHOD_COUNT = ADIOS_QUERY_METHOD_UNKNOWN
};

enum ADIOS_PREDICATE_MODE { ADIOS_LT = 0, ADIOS_LTEQ = 1, ADIOS_GT = 2, ADIOS_GTEQ = 3, ADIOS_EQ = 4, ADIOS_NE = 5 };

enum ADIOS_CLAUSE_OP_MODE { ADIOS_QUERY_OP_AND = 0, ADIOS_QUERY_OP_OR = 1 };

typedef struct {
  char* condition;        /* as text; the query's */
  void* queryInternal;    /* the library's */
  ADIOS_SELECTION* sel;   /* as given: the caller's, which must live as long as the query */
  void* dataSlice;        /* NULL */
  ADIOS_VARINFO* varinfo; /* NULL */
  char* varName;          /* the query's; NULL of combined ones */
  ADIOS_FILE* file;
  enum ADIOS_QUERY_METHOD method;
  enum ADIOS_PREDICATE_MODE predicateOp;
  char* predicateValue; /* the query's; NULL of combined ones */
  uint64_t rawDataSize; /* elements that the query was last asked for of */
  void* left;           /* the queries that a combined one was made from */
  void* right;
  enum ADIOS_CLAUSE_OP_MODE combineOp;
  int onTimeStep; /* that it was last asked for; -1 */
  uint64_t maxResultsDesired;
  uint64_t resultsReadSoFar; /* points or blocks that were handed out of that step */
  int hasParent;
  int deleteSelectionWhenFreed; /* 0 */
  int estimate;                 /* 0 */
} ADIOS_QUERY;

enum ADIOS_QUERY_RESULT_STATUS {
  ADIOS_QUERY_RESULT_ERROR = -1,
  ADIOS_QUERY_NO_MORE_RESULTS = 0,
  ADIOS_QUERY_HAS_MORE_RESULTS = 1
};

/* Points are one selection, whose points have as many indices as the array of the output boundary has dimensions,
 * counted from the array's first element (of a block of a local array from the block's): they can be read as they are.
 * Free u.points.points of it, `selections` and the result with free(); adios_selection_delete(selections) in place of
 * the first two does the same. Blocks are one selection each, in one array: free `selections` and the result. */
typedef struct {
  enum ADIOS_QUERY_METHOD method_used;
  enum ADIOS_QUERY_RESULT_STATUS status;
  int nselections;             /* 0 if there are no (more) hits */
  ADIOS_SELECTION* selections; /* an array; NULL if there are none */
  uint64_t npoints;            /* of all selections of points */
} ADIOS_QUERY_RESULT;

typedef struct {
  int nmethods;
  char** name;
  enum ADIOS_QUERY_METHOD* methodID;
} ADIOS_AVAILABLE_QUERY_METHODS;

#ifndef __INCLUDED_FROM_FORTRAN_API__

/* 1 if queries can be answered in this way: all of them but UNKNOWN. Any thread may call. */
int adios_query_is_method_available(enum ADIOS_QUERY_METHOD method);

/* A condition on the elements of a variable of numbers. `queryBoundary` is a box, a block that a process wrote, or NULL
 * for all of a global array; `value` is a decimal number. The caller frees it with adios_query_free(). NULL on errors:
 * err_invalid_file_pointer, err_invalid_varname, err_unsupported_selection (points), err_invalid_query_value,
 * err_no_memory. Steps and the boundary's place are looked at by estimate() and evaluate(). */
ADIOS_QUERY* adios_query_create(ADIOS_FILE* f, ADIOS_SELECTION* queryBoundary, const char* varName,
                                enum ADIOS_PREDICATE_MODE queryOp, const char* value);

/* Both, or one of two. The boundaries of all conditions must have the same counts, at whatever places: elements at the
 * same distance from the begin of their boundaries belong together. The queries must live as long as what was made of
 * them, and are freed by the caller each. NULL with err_incompatible_queries if one is NULL or their files differ. */
ADIOS_QUERY* adios_query_combine(ADIOS_QUERY* q1, enum ADIOS_CLAUSE_OP_MODE combineOp, ADIOS_QUERY* q2);

void adios_query_set_method(ADIOS_QUERY* q, enum ADIOS_QUERY_METHOD method);

/* At most how many elements fulfil the query in a step, from indices alone. Below 0 on errors, which are those of
 * evaluate(). */
int64_t adios_query_estimate(ADIOS_QUERY* q, int timeStep);

/* The next hits, at most `batchSize` points or blocks (0: as many as there are). The first call for a step, or with
 * another boundary, begins at the first hit. `outputBoundary` says where hits are counted: a box with the counts of the
 * query's boundaries, a block, or NULL for the boundary of the query's first condition. A result is returned on errors
 * as well, with the status ADIOS_QUERY_RESULT_ERROR and adios_errno: err_invalid_timestep, err_incompatible_queries
 * (counts that differ), err_out_of_bound, err_unsupported_selection, err_corrupted_variable (a block that cannot be
 * read), ...; NULL only if there is no memory. */
ADIOS_QUERY_RESULT* adios_query_evaluate(ADIOS_QUERY* q, ADIOS_SELECTION* outputBoundary, int timestep,
                                         uint64_t batchSize);

/* Reads a variable at what evaluate() returned, into `data`, which has the box `bb`; what lies outside of that is
 * passed over, and elements that are no hits stay as they were. 0, or the error. */
int adios_query_read_boundingbox(ADIOS_FILE* f, ADIOS_QUERY* q, const char* varname, int timestep,
                                 unsigned int nselections, ADIOS_SELECTION* selections, ADIOS_SELECTION* bb,
                                 void* data);

/* This query alone, not those that it was made from. NULL is allowed. */
void adios_query_free(ADIOS_QUERY* q);

/* Of "<", "<=", ">", ">=", "=" or "==", "!="; of anything else ADIOS_NE, as the original. */
enum ADIOS_PREDICATE_MODE adios_query_getOp(const char* opStr);

ADIOS_AVAILABLE_QUERY_METHODS* adios_available_query_methods(void);
void adios_available_query_methods_free(ADIOS_AVAILABLE_QUERY_METHODS* methods);

#endif

#ifdef __cplusplus
}
#endif

#endif
