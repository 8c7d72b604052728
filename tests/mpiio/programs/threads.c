// Threads of one process at one file: explicit offsets and nonblocking accesses side by side, and the individual and
// the shared pointer, which give every access an etype range of its own.
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRecords = 25, kInts = 20 };

static MPI_File file;

static void fill(int* record, int number) {
  for (int i = 0; i < kInts; ++i) record[i] = number * kInts + i;
}

static int number_of(int thread, int i) { return (check_rank * kThreads + thread) * kRecords + i; }

static void* with_offsets(void* argument) {
  const int thread = *(const int*)argument;
  int record[kInts], found[kInts];
  MPI_Request requests[kRecords];
  static int records[kThreads][kRecords][kInts];
  for (int i = 0; i < kRecords; ++i) {
    const int number = number_of(thread, i);
    fill(records[thread][i], number);
    if (i % 2 == 0)
      OK(MPI_File_iwrite_at(file, (MPI_Offset)number * kInts, records[thread][i], kInts, MPI_INT, &requests[i]));
    else
      OK(MPI_File_write_at(file, (MPI_Offset)number * kInts, records[thread][i], kInts, MPI_INT, MPI_STATUS_IGNORE));
  }
  for (int i = 0; i < kRecords; i += 2) OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
  for (int i = 0; i < kRecords; ++i) {
    MPI_Status status;
    fill(record, number_of(thread, i));
    OK(MPI_File_read_at(file, (MPI_Offset)number_of(thread, i) * kInts, found, kInts, MPI_INT, &status));
    EXPECT_EQ(check_count(&status, MPI_INT), kInts);
    EXPECT_SAME("a thread's own record", found, record, sizeof record);
  }
  return NULL;
}

static void* with_pointer(void* argument) {
  int record[kInts];
  for (int i = 0; i < kRecords; ++i) {
    fill(record, number_of(*(const int*)argument, i));
    OK(MPI_File_write(file, record, kInts, MPI_INT, MPI_STATUS_IGNORE));
  }
  return NULL;
}

static void* with_shared_pointer(void* argument) {
  int record[kInts];
  for (int i = 0; i < kRecords; ++i) {
    fill(record, number_of(*(const int*)argument, i));
    OK(MPI_File_write_shared(file, record, kInts, MPI_INT, MPI_STATUS_IGNORE));
  }
  return NULL;
}

static void run(void* (*body)(void*)) {
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    pthread_create(&threads[i], NULL, body, &numbers[i]);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

// Every record from `first` to `last` is in the file once, whole.
static void expect_records(const char* what, int first, int last) {
  const int count = last - first;
  int* image = calloc((size_t)count * kInts + 1, sizeof(int));
  char* seen = calloc((size_t)count, 1);
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));
  OK(MPI_File_read_at(file, (MPI_Offset)first * kInts, image, count * kInts, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < count; ++i) {
    int wanted[kInts];
    const int number = image[i * kInts] / kInts;
    fill(wanted, number);
    if (!EXPECT_SAME(what, image + i * kInts, wanted, sizeof wanted)) break;
    EXPECT(number >= first && number < last, "%s: record %d", what, number);
    if (number >= first && number < last) EXPECT(!seen[number - first]++, "%s: record %d twice", what, number);
  }
  free(image);
  free(seen);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void fresh(void) {
  file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  check_ready(argc, argv);
  if (provided < MPI_THREAD_MULTIPLE) {
    if (check_rank == 0) printf(" No Errors: the MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return 0;
  }
  const int own = kThreads * kRecords;
  MPI_Offset position = -1;
  fresh();
  run(with_offsets);
  expect_records("offsets", 0, own * check_ranks);
  OK(MPI_File_close(&file));

  if (check_strict) {
    fresh();
    OK(MPI_File_seek(file, (MPI_Offset)check_rank * own * kInts, MPI_SEEK_SET));
    run(with_pointer);
    OK(MPI_File_get_position(file, &position));
    EXPECT_EQ(position, (MPI_Offset)(check_rank + 1) * own * kInts);
    expect_records("the individual pointer", own * check_rank, own * (check_rank + 1));
    OK(MPI_File_close(&file));

    fresh();
    run(with_shared_pointer);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(file, &position));
    EXPECT_EQ(position, (MPI_Offset)check_ranks * own * kInts);
    expect_records("the shared pointer", 0, own * check_ranks);
    OK(MPI_File_close(&file));
  }
  return check_end();
}
