// What the programs have in common: a start, a file of their own, checks that count, and an end that sums up.
//
// The first argument of every program is the path of a file that it may create and remove, with others beside it whose
// names begin with it. The second may be "strict": check also what the MPI libraries of today are known to get wrong.
// CHECK_ATOMIC=1 in the environment: every file that is opened here is set atomic at once.
#pragma once

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures = 0;
static int check_rank = 0;
static int check_ranks = 1;
static int check_strict = 0;
static char check_path[1024] = "check.file";

static inline void check_failed(const char* file, int line, const char* format, ...) {
  if (++check_failures > 10) return;  // the first say enough
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s:%d: rank %d: ", file, line, check_rank);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
}

// Counts a failure unless `condition`; what follows says what was found.
#define EXPECT(condition, ...)                                                       \
  do {                                                                               \
    if (!(condition)) check_failed(__FILE__, __LINE__, #condition ": " __VA_ARGS__); \
  } while (0)

#define EXPECT_EQ(found, wanted)                                                                         \
  do {                                                                                                   \
    long long found_value = (long long)(found), wanted_value = (long long)(wanted);                      \
    if (found_value != wanted_value)                                                                     \
      check_failed(__FILE__, __LINE__, "%s is %lld, should be %lld", #found, found_value, wanted_value); \
  } while (0)

static inline int check_class(int code) {
  int error_class = code;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

static inline void check_call(int code, const char* file, int line, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  check_failed(file, line, "%s: class %d: %s", call, check_class(code), text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The call has to succeed; what comes after makes no sense otherwise.
#define OK(call) check_call((call), __FILE__, __LINE__, #call)

// The call has to fail with this class of errors.
#define EXPECT_CLASS(call, wanted)                                                                                   \
  do {                                                                                                               \
    int found_class = check_class(call);                                                                             \
    if (found_class != (wanted))                                                                                     \
      check_failed(__FILE__, __LINE__, "%s gives class %d, should be " #wanted " (%d)", #call, found_class, wanted); \
  } while (0)

// The call has to fail, with any class.
#define EXPECT_ERROR(call)                                                                          \
  do {                                                                                              \
    if ((call) == MPI_SUCCESS) check_failed(__FILE__, __LINE__, "%s succeeds, should fail", #call); \
  } while (0)

static inline const char* check_name(const char* suffix) {
  static char names[4][1100];
  static int next = 0;
  next = (next + 1) % 4;
  snprintf(names[next], sizeof names[next], "%s%s", check_path, suffix);
  return names[next];
}

// Collective over all ranks: nobody finds the file of a run before.
static inline void check_remove(const char* suffix) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) remove(check_name(suffix));
  MPI_Barrier(MPI_COMM_WORLD);
}

static inline void check_ready(int argc, char** argv) {
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
  if (argc > 1) snprintf(check_path, sizeof check_path, "%s", argv[1]);
  check_strict = argc > 2 && strcmp(argv[2], "strict") == 0;
  check_remove("");
}

static inline void check_begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  check_ready(*argc, *argv);
}

// Says on rank 0 whether all went well, on all ranks; returns what main has to.
static inline int check_end(void) {
  int sum = 0;
  check_remove("");
  MPI_Allreduce(&check_failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (check_rank == 0) {
    if (sum == 0)
      printf(" No Errors\n");
    else
      printf(" Found %d errors\n", sum);
    fflush(stdout);
  }
  MPI_Finalize();
  return sum != 0;
}

// Leaves a program that cannot be run with so few ranks.
static inline void check_needs_ranks(int ranks) {
  if (check_ranks >= ranks) return;
  fprintf(stderr, "needs %d ranks\n", ranks);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static inline int check_atomic(void) {
  const char* value = getenv("CHECK_ATOMIC");
  return value != NULL && strcmp(value, "1") == 0;
}

static inline MPI_File check_open_info(MPI_Comm comm, const char* name, int amode, MPI_Info info) {
  MPI_File file;
  OK(MPI_File_open(comm, name, amode, info, &file));
  if (check_atomic()) OK(MPI_File_set_atomicity(file, 1));
  return file;
}

static inline MPI_File check_open(MPI_Comm comm, const char* name, int amode) {
  return check_open_info(comm, name, amode, MPI_INFO_NULL);
}

static inline MPI_File check_open_new(void) {
  check_remove("");
  return check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
}

// Collective over `comm`: what was written before is seen by reads after it, atomic mode or not.
static inline void check_publish(MPI_File file, MPI_Comm comm) {
  OK(MPI_File_sync(file));
  MPI_Barrier(comm);
  OK(MPI_File_sync(file));
}

static inline int check_count(const MPI_Status* status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(status, type, &count);
  return count;
}

// The whole file as bytes, without MPI; its size, or -1.
static inline long check_load(const char* name, void* bytes, long capacity) {
  FILE* stream = fopen(name, "rb");
  if (stream == NULL) return -1;
  long size = (long)fread(bytes, 1, (size_t)capacity, stream);
  fclose(stream);
  return size;
}

// Reports the first byte that differs.
static inline int check_same(const char* file, int line, const char* what, const void* found, const void* wanted,
                             long size) {
  const unsigned char* a = (const unsigned char*)found;
  const unsigned char* b = (const unsigned char*)wanted;
  for (long i = 0; i < size; ++i) {
    if (a[i] == b[i]) continue;
    check_failed(file, line, "%s: byte %ld of %ld is %d, should be %d", what, i, size, a[i], b[i]);
    return 0;
  }
  return 1;
}

#define EXPECT_SAME(what, found, wanted, size) check_same(__FILE__, __LINE__, what, found, wanted, size)
