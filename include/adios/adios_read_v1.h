/* ADIOS 1.x's reading interface, first version: what <adios_read.h> declares with ADIOS_USE_READ_API_1 defined.
 * Structures and numbers are those of ADIOS 1.13.
 *
 * Readable is the same as with the second version: a file that was written through adios.h, or the sets of a store.
 * Variables that were written in several steps have time as their first dimension. Pointers are NULL on errors, and
 * numbers below 0; adios_errno and adios_errmsg() have the reason. adios_fopen() and adios_fclose() are collective. One
 * thread at a time may use an ADIOS_FILE and what came from it. */
#ifndef ADIOS_READ_V1_H
#define ADIOS_READ_V1_H

#include <adios_error.h>
#include <adios_mpi.h>
#include <adios_read_v1_defs.h>
#include <adios_types.h>
#include <adios_version.h>
#include <inttypes.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint64_t fh;
  int groups_count;
  int vars_count; /* of all groups */
  int attrs_count;
  int tidx_start; /* 1 */
  int ntimesteps;
  int version; /* 3 */
  uint64_t file_size;
  int endianness;        /* 0 little, 1 big; values are in the machine's order anyway */
  char** group_namelist; /* groups_count names */
  void* internal_data;
} ADIOS_FILE;

typedef struct {
  uint64_t gh;
  int grpid; /* place in group_namelist */
  int vars_count;
  char** var_namelist; /* full names */
  int attrs_count;
  char** attr_namelist;
  ADIOS_FILE* fp;
  int timestep;     /* 1 */
  int lasttimestep; /* ntimesteps */
} ADIOS_GROUP;

/* Numbers (gmin, gmax, mins, maxs) are of the variable's type. Unknown ones are NULL. */
typedef struct {
  int grpid;
  int varid; /* place in the group's var_namelist */
  enum ADIOS_DATATYPES type;
  int ndim; /* time included */
  uint64_t* dims;
  int timedim;               /* 0 if the variable was written in several steps, else -1 */
  int characteristics_count; /* 0 */
  void* value;               /* of a scalar, in the first step; a text for strings */
  void* gmin;
  void* gmax;
  double* gavg;
  double* gstd_dev;
  void** mins; /* for each step, as the next three */
  void** maxs;
  double** avgs;
  double** std_devs;
  struct ADIOS_HIST {
    uint32_t num_breaks;
    double max;
    double min;
    double* breaks;
    uint32_t** frequenciess;
    uint32_t* gfrequencies;
  }* hist; /* NULL */
  void* internal_data;
} ADIOS_VARINFO;

typedef struct {
  uint64_t* start;
  uint64_t* count;
} ADIOS_VARBLOCK;

/* All that read files stand for one. */
enum ADIOS_READ_METHOD {
  ADIOS_READ_METHOD_BP = 0,
  ADIOS_READ_METHOD_BP_STAGED = 1,
  ADIOS_READ_METHOD_BP_AGGREGATE = 1,
  ADIOS_READ_METHOD_HDF5 = 2,
  ADIOS_READ_METHOD_DART = 3,
  ADIOS_READ_METHOD_DIMES = 4,
  ADIOS_READ_METHOD_NSSI = 5,
  ADIOS_READ_METHOD_DATATAP = 6,
  ADIOS_READ_METHOD_BP_STAGED1 = 7
};

#ifndef __INCLUDED_FROM_FORTRAN_API__

/* The words of the last error. The library's, until the next error in this thread. */
const char* adios_errmsg(void);

/* 0, or err_invalid_read_method for ways that do not read files. Files need nothing else. */
int adios_set_read_method(enum ADIOS_READ_METHOD method);
int adios_set_application_id(int id);
int adios_read_init(MPI_Comm comm);
int adios_read_finalize(void);

/* NULL with the errors of the second version's adios_read_open_file(). */
ADIOS_FILE* adios_fopen(const char* fname, MPI_Comm comm);
int adios_fclose(ADIOS_FILE* fp);

/* Does nothing: dimensions are in C's order already. */
void adios_reset_dimension_order(ADIOS_FILE* fp, int is_fortran);

/* err_invalid_group if there is no such group. adios_gclose() frees it; the file must be closed after that. */
ADIOS_GROUP* adios_gopen(ADIOS_FILE* fp, const char* grpname);
ADIOS_GROUP* adios_gopen_byid(ADIOS_FILE* fp, int grpid);
int adios_gclose(ADIOS_GROUP* gp);

/* err_invalid_varname, err_invalid_varid. adios_free_varinfo() frees it. */
ADIOS_VARINFO* adios_inq_var(ADIOS_GROUP* gp, const char* varname);
ADIOS_VARINFO* adios_inq_var_byid(ADIOS_GROUP* gp, int varid);
void adios_free_varinfo(ADIOS_VARINFO* info);

/* Correlation and covariance of a variable's statistics over steps, as in the second version. NaN if they are not
 * known. */
double adios_stat_cor(ADIOS_VARINFO* vix, ADIOS_VARINFO* viy, char* characteristic, uint32_t time_start,
                      uint32_t time_end, uint32_t lag);
double adios_stat_cov(ADIOS_VARINFO* vix, ADIOS_VARINFO* viy, char* characteristic, uint32_t time_start,
                      uint32_t time_end, uint32_t lag);

/* Reads a box, whose start and count have ndim numbers (time first if there is a dimension of it; none are looked at
 * for a scalar of one step). The bytes that were read; below 0: err_invalid_varname, err_invalid_varid,
 * err_out_of_bound, err_invalid_timestep, err_corrupted_variable, ... */
int64_t adios_read_var(ADIOS_GROUP* gp, const char* varname, const uint64_t* start, const uint64_t* count, void* data);
int64_t adios_read_var_byid(ADIOS_GROUP* gp, int varid, const uint64_t* start, const uint64_t* count, void* data);

/* The same of what one process wrote: `idx` counts the blocks of all steps, start and count have the block's
 * dimensions, without time. */
int64_t adios_read_local_var(ADIOS_GROUP* gp, const char* varname, int idx, const uint64_t* start,
                             const uint64_t* count, void* data);

/* `data` is for the caller to free(); `size` its bytes, with the NUL of a text. 0, or err_invalid_attrname,
 * err_invalid_attrid. */
int adios_get_attr(ADIOS_GROUP* gp, const char* attrname, enum ADIOS_DATATYPES* type, int* size, void** data);
int adios_get_attr_byid(ADIOS_GROUP* gp, int attrid, enum ADIOS_DATATYPES* type, int* size, void** data);

const char* adios_type_to_string(enum ADIOS_DATATYPES type);
int adios_type_size(enum ADIOS_DATATYPES type, void* data);

void adios_print_fileinfo(ADIOS_FILE* fp);
void adios_print_groupinfo(ADIOS_GROUP* gp);

#endif /* __INCLUDED_FROM_FORTRAN_API__ */

#ifdef __cplusplus
}
#endif

#endif
