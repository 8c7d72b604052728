/* Write a method of adaptable I/O of your own: how the groups that programs write through adios.h get to storage.
 *
 * A method NAME is a shared object that is called NAME.so in lower case ("mine.so" for method="MINE"), made of C or of
 * any language that can export one C function:
 *
 *     const forebay_method* forebay_method_entry(const char* name, uint32_t version);
 *
 * It is looked for where Forebay's own methods PHDF5 and NC4 are, in lib/forebay/methods of the installation, then in
 * the directories of $FOREBAY_METHOD_PATH (separated by ':'). A program names it in its XML or in
 * adios_select_method(), as any method. A file that others than root, the user and the owner of Forebay's own files
 * could have put there is refused: it and the directories above it must belong to one of them, and nobody else may
 * write them. So is one that has no entry or that answers with another version.
 *
 * `name` is in lower case. A plug-in that does not know the version that it is asked for returns NULL. The table that
 * it returns is the plug-in's, never changes, and is used until the process ends; the shared object is never unloaded.
 *
 * All functions may be called by one thread at a time for one file; different files, and methods, may be used by
 * different threads at once. None may throw or end the process. Functions that can fail return 0, or one of the numbers
 * below, after they have described the failure in `message` (a text of at most FOREBAY_METHOD_MESSAGE bytes with its
 * final NUL): what, where, and what to do. Everything that is passed to a function is the caller's and valid until the
 * function returns, unless another time is said. Sizes are bytes, texts are UTF-8 and end with NUL. */
#ifndef FOREBAY_FOREBAY_METHOD_H
#define FOREBAY_FOREBAY_METHOD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOREBAY_METHOD_VERSION 1u
#define FOREBAY_METHOD_MESSAGE 1024

/* Of the numbers that programs know from adios_error.h, those that methods use. */
enum {
  FOREBAY_METHOD_OK = 0,
  FOREBAY_METHOD_NO_MEMORY = -1,
  FOREBAY_METHOD_FILE_OPEN = -2,      /* cannot be opened or made */
  FOREBAY_METHOD_NOT_FOUND = -3,      /* a file that has to be there is not */
  FOREBAY_METHOD_UNSUPPORTED = -20,   /* the method cannot write this */
  FOREBAY_METHOD_INVALID_MODE = -100, /* the method cannot open in this mode */
  FOREBAY_METHOD_INVALID_DATA = -102, /* ranks contradict each other, or a file has another form */
  FOREBAY_METHOD_WRITE = -106,        /* the system failed to write */
  FOREBAY_METHOD_ARGUMENT = -140      /* a parameter makes no sense */
};

/* Types of values, as in adios_types.h. Complex numbers are two of their parts; a long double takes 16 bytes. */
enum {
  FOREBAY_METHOD_INT8 = 0,
  FOREBAY_METHOD_INT16 = 1,
  FOREBAY_METHOD_INT32 = 2,
  FOREBAY_METHOD_INT64 = 4,
  FOREBAY_METHOD_FLOAT32 = 5,
  FOREBAY_METHOD_FLOAT64 = 6,
  FOREBAY_METHOD_LONG_DOUBLE = 7,
  FOREBAY_METHOD_STRING = 9, /* without a final NUL */
  FOREBAY_METHOD_COMPLEX64 = 10,
  FOREBAY_METHOD_COMPLEX128 = 11,
  FOREBAY_METHOD_STRING_ARRAY = 12, /* of attributes: each string with its NUL */
  FOREBAY_METHOD_UINT8 = 50,
  FOREBAY_METHOD_UINT16 = 51,
  FOREBAY_METHOD_UINT32 = 52,
  FOREBAY_METHOD_UINT64 = 54
};

enum {
  FOREBAY_METHOD_MODE_WRITE = 0,  /* a new file, in the place of one that there may be */
  FOREBAY_METHOD_MODE_APPEND = 1, /* one more step; a new file if there is none */
  FOREBAY_METHOD_MODE_UPDATE = 2  /* more of the last step; NOT_FOUND if there is no file */
};

/* A parameter of the method, from the text of its XML element: "stripe_count=4". Names are in lower case. */
typedef struct forebay_method_parameter {
  const char* name;
  const char* value;
} forebay_method_parameter;

/* One write of one variable by this rank. Shapes are in elements, slowest dimension first, whatever the language of the
 * program; time is not a dimension of them. */
typedef struct forebay_method_block {
  const char* name; /* full: path, '/', name */
  int32_t type;
  uint32_t dimensions;          /* 0 for a scalar or a string */
  const uint64_t* shape;        /* of `bytes` */
  const uint64_t* global_shape; /* of the array that all ranks' blocks are parts of; NULL for a local array */
  const uint64_t* offsets;      /* of this block in it; NULL for a local array */
  const char* transform;        /* as the program asked for it ("zlib:5"), or ""; `bytes` are not transformed */
  const void* bytes;            /* native byte order */
  uint64_t size;
} forebay_method_block;

typedef struct forebay_method_attribute {
  const char* name; /* full */
  int32_t type;
  uint64_t count;    /* elements; of a STRING_ARRAY, strings */
  const void* bytes; /* NULL if it refers to a variable */
  uint64_t size;
  const char* variable; /* its value is that of this variable; NULL if it has one of its own */
} forebay_method_attribute;

/* This rank's output between open and close, in one step. */
typedef struct forebay_method_step {
  const char* group;
  const char* time_index_name; /* or "" */
  uint64_t step;               /* in the file, from 0 */
  uint32_t time_index;         /* as ADIOS counts: from 1, over all files of a group */
  int32_t is_fortran;          /* the program's first dimension varies fastest; the shapes here do not follow it */
  uint64_t block_count;
  const forebay_method_block* blocks; /* in order of writing */
  uint64_t attribute_count;
  const forebay_method_attribute* attributes; /* the same at all ranks */
} forebay_method_step;

/* The ranks that opened a file. Used by the thread that was given it, within the call that it was passed to. All
 * functions return 0, or a number as above if another rank cannot be reached; nothing more can be said to ranks then.
 */
typedef struct forebay_method_ranks {
  void* self; /* first argument of the functions */
  uint32_t rank, size;

  /* A message to another rank, which may return before it is received; in order between two ranks. */
  int (*send)(void* self, const void* message, uint64_t length, uint32_t to);

  /* The next message of a rank. *message stays valid until the next receive; its length is put into *length. */
  int (*receive)(void* self, uint32_t from, const void** message, uint64_t* length);

  /* Collective: the sum of the values of all lower ranks. */
  int (*exclusive_scan)(void* self, uint64_t mine, uint64_t* sum);

  /* Collective: the largest of the values of all ranks. */
  int (*max)(void* self, uint64_t mine, uint64_t* largest);

  /* Collective: returns when all have called it. */
  int (*barrier)(void* self);
} forebay_method_ranks;

/* Where a file stands when it is opened: the same at all ranks. */
typedef struct forebay_method_standing {
  uint64_t steps;           /* that it has */
  uint32_t last_time_index; /* of the last of them, or 0 */
} forebay_method_standing;

typedef struct forebay_method_open_request {
  const char* path;
  int32_t mode;
  const char* group;
  int32_t is_alone; /* one process for itself (MPI_COMM_SELF), which expects one plain file */
  const forebay_method_ranks* ranks;
} forebay_method_open_request;

typedef struct forebay_method {
  uint32_t version;              /* FOREBAY_METHOD_VERSION */
  uint32_t size;                 /* sizeof(forebay_method) */
  const char* name;              /* as programs see it */
  const char* const* parameters; /* names of those that it knows, in lower case, then NULL; NULL if there are none */

  /* A method for one group. *method is passed to the functions below. */
  int (*make)(const forebay_method_parameter* parameters, size_t count, void** method, char* message);
  void (*unmake)(void* method);

  /* Collective. If it fails at one rank it has to fail at all of them. *file is passed to the functions below. */
  int (*open)(void* method, const forebay_method_open_request* request, void** file, forebay_method_standing* standing,
              char* message);

  /* Collective; the last call for the file, also if it fails. Writes what this rank has: no step, one, or several that
   * ascend; other ranks may have others. The caller reports a rank's failure to all; it must not keep the data of
   * the other ranks from being written, nor make them wait for ever. */
  int (*close)(void* file, const forebay_method_ranks* ranks, const forebay_method_step* steps, size_t count,
               char* message);

  /* Instead of close, on one rank alone: the program ends without it. The file's earlier content stays. */
  void (*abandon)(void* file);

  /* Collective over all ranks of the program: waits until everything that was closed is where it belongs. Or NULL. */
  int (*finalize)(void* method, const forebay_method_ranks* ranks, char* message);

  /* Hints: the program computes, and does not communicate; it does no longer; an iteration of its main loop is over.
   * Any thread may call. Or NULL. */
  void (*begin_calculation)(void* method);
  void (*end_calculation)(void* method);
  void (*end_iteration)(void* method);
} forebay_method;

typedef const forebay_method* (*forebay_method_entry_function)(const char* name, uint32_t version);

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const forebay_method*
forebay_method_entry(const char* name, uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
