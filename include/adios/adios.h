/* Adaptable I/O: the writing interface of ADIOS 1.13 for C, source-compatible. docs/adaptable-io.md is the guide.
   A program declares groups of variables, in an XML file or by calls, and writes a group again and again:

     adios_init("config.xml", comm);
     adios_open(&fd, "restart", "restart.fb", "w", comm);
     adios_write(fd, "NX", &NX);
     adios_write(fd, "temperature", t);
     adios_close(fd);
     adios_finalize(rank);

   The configuration says by which method a group is written, and changing it needs no compiler.

   Return values. Functions return 0, or else one of the negative numbers of adios_error.h, which is left in adios_errno
   as well, and say on stderr what is wrong and what to do about it. The process goes on, unless abort_on_error=1 is
   among the parameters of a method: then the first error aborts it. Where a function returns something else it says so.
   Handles are never 0. Strings and arrays that are passed are the caller's, and may change or go as soon as a call
   returns; NULL and "" mean the same. Collective functions must be called by all ranks of their communicator, in the
   same order; all others by any. Threads may use different open files at the same time, each from one thread; what
   declares and defines, and adios_init and adios_finalize, must not run beside other calls. A call's result and
   adios_get_last_errmsg() are of the thread, adios_errno is of the process.
 */
#ifndef ADIOS_H
#define ADIOS_H

#include <adios_error.h>
#include <adios_mpi.h>
#include <adios_types.h>
#include <adios_version.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Beginning and end ---- */

/* Collective. Reads groups and methods from the XML file `config` (rank 0 does, and broadcasts it). A file that is
   missing or wrong is an error at all ranks, with line and column. A group whose method is not known is left without
   one. A variable whose transform is not known is stored as it is: all else is done, and err_invalid_transform_type
   returned.
 */
int adios_init(const char* config, MPI_Comm comm);

/* Collective. Groups are declared by calls, see below. */
int adios_init_noxml(MPI_Comm comm);

/* 1 between adios_init() or adios_init_noxml() and adios_finalize(), else 0. */
int adios_is_initialized(void);

/* Collective over the ranks that initialised. Writes what is still kept for aggregation, waits for what is written in
   the background and forgets all groups. `mype` is a label without meaning. */
int adios_finalize(int mype);

/* ---- Writing ---- */

/* Collective. Opens the file `name` (the method's base path comes before it) for the group, by all of the group's
   methods, and puts a handle into *fd, 0 on error. Modes, in any case: "w" a new file; "a" one more step in a file,
   which is made if it is not there; "u" more of the last step of a file; "r" for adios_read(), by as many ranks as
   wrote. "w" and "a" count the group's time index up. MPI_COMM_SELF (and MPI_COMM_NULL) is a file of this process
   alone. */
int adios_open(int64_t* fd, const char* group_name, const char* name, const char* mode, MPI_Comm comm);

/* Optional: announces how many bytes of values this rank will write into the file, which helps to place them. Writing
   more or less is no error. *total_size, unless total_size is NULL, becomes an estimate of what that takes in the file.
 */
int adios_group_size(int64_t fd_p, uint64_t data_size, uint64_t* total_size);

/* Writes a variable, whose full name is its path, '/' and its name as they were defined. A scalar is remembered: it may
   be a dimension of what is written after it. A name may be written more than once: these are several blocks. Of an
   adios_string `var` is the char* itself. err_invalid_varname if there is no such variable;
   err_invalid_var_as_dimension if a dimension has no value yet; err_buffer_overflow if it does not fit
   (adios_set_max_buffer_size()). Data that were written before, and that are written after, stay. */
int adios_write(int64_t fd_p, const char* name, const void* var);

/* The same for the definition `id`, as adios_define_var() returned it: for several blocks of different shapes that have
 * one name. */
int adios_write_byid(int64_t fd_p, int64_t id, const void* var);

/* Obsolete: instead of adios_write(), hands out memory of the variable's size, to be filled before adios_close(). The
   memory is the library's. *size, on input what is wanted or 0 for all, becomes its size. */
int adios_get_write_buffer(int64_t fd_p, const char* name, uint64_t* size, void** buffer);

/* Mode "r": `buffer` is filled at adios_close() with what this rank wrote last. At most buffer_size bytes are written
 * to it. */
int adios_read(int64_t fd_p, const char* name, void* buffer, uint64_t buffer_size);

/* Obsolete: what is written from now on, or the variable `name` alone, is stored under another path. adios_write()
   still takes the name as it was defined. */
int adios_set_path(int64_t fd_p, const char* path);
int adios_set_path_var(int64_t fd_p, const char* path, const char* name);

/* Collective. Writes what there is of all ranks and makes it visible; with mode "r", fills what adios_read() named. The
   handle is gone, whatever is returned. If something failed at one rank, all get an error; the data of others are
   written. */
int adios_close(int64_t fd_p);

/* Hints for methods that write in the background: the program computes from now on; it communicates from now on; an
   iteration of its main loop is over. */
int adios_start_calculation(void);
int adios_stop_calculation(void);
int adios_end_iteration(void);

/* Writes how long the calls of this file have taken so far, at each rank, as XML (rank 0 writes). Collective over the
 * file's ranks. */
void adios_timing_write_xml(int64_t fd_p, const char* filename);

/* ---- Declaring without XML ---- */

/* Obsolete: sets the most that may be buffered, in MB. Memory is taken when it is needed, whatever
 * `adios_buffer_alloc_when` says. */
int adios_allocate_buffer(enum ADIOS_BUFFER_ALLOC_WHEN adios_buffer_alloc_when, uint64_t buffer_size);

/* The most that is buffered of one file between open and close, in MB (of 2^20 bytes) at this rank. It is never passed:
   what does not fit goes out early (POSIX), or is refused (the other methods). Without this call there is no limit. */
void adios_set_max_buffer_size(uint64_t max_buffer_size_MB);

/* Declares a group and puts its handle into *id. Of groups with the same name adios_open() takes the first.
   `time_index` is the name that stands for time in dimensions of variables, or "". */
int adios_declare_group(int64_t* id, const char* name, const char* time_index, enum ADIOS_STATISTICS_FLAG stats);

/* Forgets a group, its definitions and its methods. Its open files must be closed before. */
int adios_free_group(int64_t id);

/* Keeps steps of the group in memory up to `buffersize` bytes, and writes them together: when the next one would not
   fit, when a file of the group `syncgroupid` (or 0) is closed, when another file is opened, and at adios_finalize().
 */
int adios_set_time_aggregation(int64_t groupid, uint64_t buffersize, int64_t syncgroupid);

/* Adds a method to a group; all of a group's methods write, in the order of these calls. parameters:
   "name=value;name=value". base_path: "" or something that ends in '/'. err_invalid_write_method, with the nearest
   name, if there is no such method. */
int adios_select_method(int64_t group, const char* method, const char* parameters, const char* base_path);

/* Defines a variable and returns its handle, or 0. Lists of dimensions are separated by commas; "" is a scalar. Each is
   a number, the full name of an integer variable or attribute of the group, or (in `dimensions` only) the group's time
   index. With global_dimensions and local_offsets it is a block of a global array; a global dimension "JoinedDim" is as
   long as the blocks of all ranks together. */
int64_t adios_define_var(int64_t group_id, const char* name, const char* path, enum ADIOS_DATATYPES type,
                         const char* dimensions, const char* global_dimensions, const char* local_offsets);

/* Forgets all variables of a group, or all attributes. Handles of variables are void. */
int adios_delete_vardefs(int64_t id);
int adios_delete_attrdefs(int64_t id);

/* The bytes of the block that would be written now, or 0 (and adios_errno) if a dimension is not known yet. */
uint64_t adios_expected_var_size(int64_t var_id);

/* How blocks of the variable are transformed before they are stored: "zlib:5", "none", ... err_invalid_transform_type,
   with the nearest name, if there is no such transform; the variable stays as it was. */
int adios_set_transform(int64_t var_id, const char* transform_type_str);

/* Defines an attribute: with its value as text, or with value "" and the full name of a variable, whose value it takes.
 */
int adios_define_attribute(int64_t group, const char* name, const char* path, enum ADIOS_DATATYPES type,
                           const char* value, const char* var);

/* The same with `nelems` values: of adios_string a char*, of adios_string_array an array of char*. */
int adios_define_attribute_byvalue(int64_t group, const char* name, const char* path, enum ADIOS_DATATYPES type,
                                   int nelems, const void* values);

/* ---- Meshes: all of them define attributes below /adios_schema. Lists are separated by commas; what is not needed is
 * 0. ---- */

int adios_define_schema_version(int64_t group_id, char* schema_version); /* "1.1" */

/* Of variables: the mesh that one lives on, at its "point"s or "cell"s, and which steps, times, files or parts there
 * are. */
int adios_define_var_mesh(int64_t group_id, const char* varname, const char* meshname);
int adios_define_var_centering(int64_t group_id, const char* varname, const char* centering);
int adios_define_var_timesteps(const char* timesteps, int64_t group_id, const char* name);
int adios_define_var_timescale(const char* timescale, int64_t group_id, const char* name);
int adios_define_var_timeseriesformat(const char* timeseries, int64_t group_id, const char* name);
int adios_define_var_hyperslab(const char* hyperslab, int64_t group_id, const char* name);

/* Of meshes: whether one changes ("yes", "no"), its steps and times, and the file or group that its variables are in.
 */
int adios_define_mesh_file(int64_t group_id, char* name, char* file);
int adios_define_mesh_timevarying(const char* timevarying, int64_t group_id, const char* name);
int adios_define_mesh_timesteps(const char* timesteps, int64_t group_id, const char* name);
int adios_define_mesh_timescale(const char* timescale, int64_t group_id, const char* name);
int adios_define_mesh_timeseriesformat(const char* timeseries, int64_t group_id, const char* name);
int adios_define_mesh_group(const char* group, int64_t group_id, const char* name);

/* The kinds of meshes. */
int adios_define_mesh_uniform(char* dimensions, char* origin, char* spacing, char* maximum, char* nspace,
                              int64_t group_id, const char* name);
int adios_define_mesh_rectilinear(char* dimensions, char* coordinates, char* nspace, int64_t group_id,
                                  const char* name);
int adios_define_mesh_structured(char* dimensions, char* points, char* nspace, int64_t group_id, const char* name);
int adios_define_mesh_unstructured(char* points, char* data, char* count, char* cell_type, char* npoints, char* nspace,
                                   int64_t group_id, const char* name);

/* ---- What there is ---- */

typedef struct {
  int nmethods;
  char** name;
} ADIOS_AVAILABLE_WRITE_METHODS;

/* The names of all methods that can be chosen; to be given back with the other function. */
ADIOS_AVAILABLE_WRITE_METHODS* adios_available_write_methods(void);
void adios_available_write_methods_free(ADIOS_AVAILABLE_WRITE_METHODS* methods);

#ifdef __cplusplus
}
#endif

#endif
