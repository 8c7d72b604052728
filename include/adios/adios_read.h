/* ADIOS 1.x's reading interface, second version; with ADIOS_USE_READ_API_1 defined, the first one, which
 * adios_read_v1.h describes. Structures and numbers are those of ADIOS 1.13.
 *
 * Readable are a file that was written through adios.h, by its path; and the sets of a store, each of which is a
 * step: "DIRECTORY" of the store, "DIRECTORY:SERIES" if it has several, "DIRECTORY:SET" for one set.
 *
 * Functions return 0 or an error of adios_error.h, pointers NULL on errors; adios_errno and adios_errmsg() say which.
 * NULL for what must be there is err_invalid_file_pointer or err_invalid_argument. Collective functions must be called
 * by all ranks of the communicator that the file was opened with, which all get the same error. One thread at a time
 * may use an ADIOS_FILE and what came from it. Dimensions are in C's order whatever the language of the writer was. */
#ifndef ADIOS_READ_H
#define ADIOS_READ_H

#ifdef ADIOS_USE_READ_API_1
#include <adios_read_v1.h>
#else

#include <adios_error.h>
#include <adios_link.h>
#include <adios_mpi.h>
#include <adios_schema.h>
#include <adios_selection.h>
#include <adios_types.h>
#include <adios_version.h>
#include <inttypes.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _ADIOS_FILE {
  uint64_t fh;
  int nvars;
  char** var_namelist; /* full names */
  int nattrs;
  char** attr_namelist;
  int nmeshes;
  char** mesh_namelist;
  int nlinks; /* 0 */
  char** link_namelist;
  int current_step; /* of a stream; 0 for a file */
  int last_step;    /* the last one that is known to be there */
  int is_streaming;
  char* path;
  int endianness; /* 0 little, 1 big; values are in the machine's order anyway */
  int version;    /* 3 */
  uint64_t file_size;
  void* internal_data;
} ADIOS_FILE;

/* Numbers (min, max and what they are lists of) are of the variable's type. Unknown ones are NULL. */
typedef struct _ADIOS_VARSTAT {
  void* min;
  void* max;
  double* avg;
  double* std_dev;
  struct ADIOS_STAT_STEP {
    void** mins;
    void** maxs;
    double** avgs;
    double** std_devs;
  }* steps; /* lists of nsteps */
  struct ADIOS_STAT_BLOCK {
    void** mins;
    void** maxs;
    double** avgs;
    double** std_devs;
  }* blocks; /* lists of sum_nblocks */
  struct ADIOS_HIST {
    uint32_t num_breaks;
    double max;
    double min;
    double* breaks;
    uint32_t** frequencies;
    uint32_t* gfrequencies;
  }* histogram; /* NULL */
} ADIOS_VARSTAT;

typedef struct _ADIOS_VARBLOCK {
  uint64_t* start; /* in the global array; of local arrays 0 */
  uint64_t* count;
  uint32_t process_id; /* the rank that wrote it */
  uint32_t time_index; /* from 1 */
} ADIOS_VARBLOCK;

enum var_centering { point = 1, cell = 2 };

typedef struct _ADIOS_VARMESH {
  int meshid;
  enum var_centering centering;
} ADIOS_VARMESH;

typedef struct _ADIOS_VARINFO {
  int varid;
  enum ADIOS_DATATYPES type;
  int ndim;       /* without time; 0 for scalars */
  uint64_t* dims; /* of a local array: of its first block */
  int nsteps;     /* in which the variable was written: others do not count; 1 in a stream */
  void* value;    /* of a scalar: of the first block of the first of these steps; a text for strings */
  int global;
  int* nblocks; /* nsteps numbers */
  int sum_nblocks;
  int nattrs; /* attributes that are called VARIABLE/... */
  int* attr_ids;
  ADIOS_VARSTAT* statistics; /* these three from calls of their own */
  ADIOS_VARBLOCK* blockinfo;
  ADIOS_VARMESH* meshinfo;
} ADIOS_VARINFO;

typedef struct _ADIOS_VARCHUNK {
  int varid;
  enum ADIOS_DATATYPES type;
  int from_steps;
  int nsteps;
  ADIOS_SELECTION* sel;
  void* data; /* the library's, until the next adios_check_reads() */
} ADIOS_VARCHUNK;

enum ADIOS_READ_METHOD {
  ADIOS_READ_METHOD_BP = 0,           /* files */
  ADIOS_READ_METHOD_BP_AGGREGATE = 1, /* files, read by some ranks for all */
  ADIOS_READ_METHOD_DATASPACES = 3,
  ADIOS_READ_METHOD_DIMES = 4,
  ADIOS_READ_METHOD_FLEXPATH = 5,
  ADIOS_READ_METHOD_ICEE = 6
};

enum ADIOS_LOCKMODE { ADIOS_LOCKMODE_NONE = 0, ADIOS_LOCKMODE_CURRENT = 1, ADIOS_LOCKMODE_ALL = 2 };

#ifndef __INCLUDED_FROM_FORTRAN_API__

/* The words of the last error. The library's, until the next error in this thread. */
const char* adios_errmsg(void);

/* Prepares a way of reading. Files need no preparation; of `parameters` ("verbose=3;logfile=PATH;quiet;abort_on_error")
 * those that are for messages count, and "skip_damaged": from then on steps that are damaged, so that they cannot be
 * opened, are left out with a warning that names their sets, by this process; all ranks must say the same.
 * err_invalid_read_method for ways that read what is still in the memory of the program that wrote it. Any thread may
 * call. */
int adios_read_init_method(enum ADIOS_READ_METHOD method, MPI_Comm comm, const char* parameters);

/* Ends what adios_read_init_method() began, with the same errors. */
int adios_read_finalize_method(enum ADIOS_READ_METHOD method);

/* Collective. Opens all steps that there are. err_file_open_error if it is not there; err_invalid_file_version if it is
 * damaged or something else; err_corrupted_variable, with the set's name in the message, if a step of a store is
 * damaged; err_invalid_read_method. Close it with adios_read_close(). */
ADIOS_FILE* adios_read_open_file(const char* fname, enum ADIOS_READ_METHOD method, MPI_Comm comm);

/* Collective. Opens the first step; adios_advance_step() goes on. Waits up to `timeout_sec` seconds, below 0 for ever,
 * until the file is there. There is nothing to lock. Errors of adios_read_open_file(). */
ADIOS_FILE* adios_read_open(const char* fname, enum ADIOS_READ_METHOD method, MPI_Comm comm,
                            enum ADIOS_LOCKMODE lock_mode, float timeout_sec);
#define adios_read_open_stream adios_read_open

/* Collective. Frees the file and all that fp points to. */
int adios_read_close(ADIOS_FILE* fp);

/* Collective. Goes to the next step, or with `last` to the last one there is, and waits for it as adios_read_open()
 * does. err_step_notready if there is none in time: a file does not say whether more will come. err_corrupted_variable
 * if that step is damaged: with `last` a program may go on behind it. After an error fp keeps its step.
 * err_end_of_stream for what adios_read_open_file() opened. */
int adios_advance_step(ADIOS_FILE* fp, int last, float timeout_sec);
void adios_release_step(ADIOS_FILE* fp); /* files: nothing */

/* A variable, by its full name or its place in var_namelist. err_invalid_varname, err_invalid_varid. Free it with
 * adios_free_varinfo(), which takes NULL as well. */
ADIOS_VARINFO* adios_inq_var(ADIOS_FILE* fp, const char* varname);
ADIOS_VARINFO* adios_inq_var_byid(ADIOS_FILE* fp, int varid);
void adios_free_varinfo(ADIOS_VARINFO* cp);

/* Fills in varinfo->statistics, or blockinfo: from what was recorded when it was written, without reading values. */
int adios_inq_var_stat(ADIOS_FILE* fp, ADIOS_VARINFO* varinfo, int per_step_stat, int per_block_stat);
int adios_inq_var_blockinfo(ADIOS_FILE* fp, ADIOS_VARINFO* varinfo);

/* Files have no links: NULL with err_operation_not_supported. */
ADIOS_LINK* adios_inq_link_byid(ADIOS_FILE* fp, int linkid);
void adios_free_linkinfo(ADIOS_LINK* linkinfo);

/* A mesh by its place in mesh_namelist, with the sizes that its variables have in the first step. Of one that is
 * described in another file only id, name and file_name are there, until adios_complete_meshinfo() has looked into that
 * file, which the program opens (`datafile` is not looked at). err_mesh_missing, and those of adios_error.h for what
 * its description lacks. Free it with adios_free_meshinfo(). */
ADIOS_MESH* adios_inq_mesh_byid(ADIOS_FILE* fp, int meshid);
int adios_complete_meshinfo(ADIOS_FILE* datafile, ADIOS_FILE* meshfile, ADIOS_MESH* meshinfo);
void adios_free_meshinfo(ADIOS_MESH* meshinfo);

/* Fills in varinfo->meshinfo; 1 if the variable is on no mesh. err_mesh_missing if there is no mesh of the name that
 * the variable is said to be on. */
int adios_inq_var_meshinfo(ADIOS_FILE* fp, ADIOS_VARINFO* varinfo);

/* Remembers to read a selection (NULL: all of the array, or the first value of a scalar) of `nsteps` of the steps in
 * which the variable was written, from the from_steps-th on, into `data`, which must live until the read is performed;
 * NULL leaves memory to the library (adios_check_reads). The selection is copied. A text needs one byte more, for a
 * NUL. Elements come in C's order of the selection, step after step; those that nobody wrote stay as they are.
 * err_invalid_varname, err_invalid_varid, err_invalid_timestep, err_operation_not_supported (automatic selections). */
int adios_schedule_read(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, const char* varname, int from_steps,
                        int nsteps, void* data);
int adios_schedule_read_byid(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, int varid, int from_steps, int nsteps,
                             void* data);
int adios_schedule_read_param(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, const char* varname, int from_steps,
                              int nsteps, const char* param, void* data);
int adios_schedule_read_byid_param(const ADIOS_FILE* fp, const ADIOS_SELECTION* sel, int varid, int from_steps,
                                   int nsteps, const char* param, void* data);

/* Reads what was scheduled and forgets it; without `blocking` adios_check_reads() does. A selection outside of the
 * array is not read: adios_errno is err_out_of_bound then, but what is returned 0, as programs expect of ADIOS; a block
 * that is not there is not read either, without an error. err_operation_not_supported if `data` was NULL and `blocking`
 * is set. err_corrupted_variable if stored values are damaged, err_file_read_error, err_no_memory: the others are
 * read. */
int adios_perform_reads(const ADIOS_FILE* fp, int blocking);

/* After adios_perform_reads(fp, 0): 1 and a chunk, 0 and NULL if all is read, or an error below 0. Reads with memory of
 * the program come in one chunk, others in a chunk for each block that was written, in memory of the library until the
 * next call. Free a chunk with adios_free_chunk(), which frees its selection, too. */
int adios_check_reads(const ADIOS_FILE* fp, ADIOS_VARCHUNK** chunk);
void adios_free_chunk(ADIOS_VARCHUNK* chunk);

/* An attribute by name, with or without the leading '/', or by its place in attr_namelist. *data is malloc()ed: values,
 * of *size bytes; a text with its NUL; or of several texts a char**, the texts in the same memory. One that refers to a
 * variable has its value. err_invalid_attrname, err_invalid_attrid, err_invalid_attribute_reference. */
int adios_get_attr(ADIOS_FILE* fp, const char* attrname, enum ADIOS_DATATYPES* type, int* size, void** data);
int adios_get_attr_byid(ADIOS_FILE* fp, int attrid, enum ADIOS_DATATYPES* type, int* size, void** data);

/* "integer", "real", ...; "(unknown)". */
const char* adios_type_to_string(enum ADIOS_DATATYPES type);

/* Bytes of an element; of a text its length and 1; -1 for what is no type. */
int adios_type_size(enum ADIOS_DATATYPES type, const void* data);

/* The groups, whose names are fp's, and how many; then only what is in one of them is shown, or with -1 all. Numbers of
 * variables and attributes change. err_invalid_group. */
int adios_get_grouplist(ADIOS_FILE* fp, char*** group_namelist);
int adios_group_view(ADIOS_FILE* fp, int groupid);

/* Correlation and covariance of "average", "standard deviation", "minimum" or "maximum" (or their short forms "avg",
 * "std_dev", "min", "max") per step, of steps from time_start to time_end, the second variable `lag` steps later; viy
 * NULL means vix. Both need statistics per step. NaN with err_invalid_argument where that makes no sense. */
double adios_stat_cor(ADIOS_VARINFO* vix, ADIOS_VARINFO* viy, char* characteristic, uint32_t time_start,
                      uint32_t time_end, uint32_t lag);
double adios_stat_cov(ADIOS_VARINFO* vix, ADIOS_VARINFO* viy, char* characteristic, uint32_t time_start,
                      uint32_t time_end, uint32_t lag);

/* Accepted: dimensions are in C's order already. */
void adios_reset_dimension_order(ADIOS_FILE* fp, int is_fortran);

void adios_print_fileinfo(ADIOS_FILE* fp);

typedef struct {
  int nmethods;
  char** name;
  enum ADIOS_READ_METHOD* methodID;
} ADIOS_AVAILABLE_READ_METHODS;

ADIOS_AVAILABLE_READ_METHODS* adios_available_read_methods(void);
void adios_available_read_methods_free(ADIOS_AVAILABLE_READ_METHODS* methods);

#endif /* __INCLUDED_FROM_FORTRAN_API__ */

#ifdef __cplusplus
}
#endif

#endif /* ADIOS_USE_READ_API_1 */

#endif
