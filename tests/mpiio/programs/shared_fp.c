// The shared file pointer, blocking and nonblocking: every record is written once, at a place of its own, and read
// once. In ints, and in etypes of three ints; seeks of the shared pointer; it is where all accesses have moved it
// together.
#include "check.h"

enum { kRecords = 20, kInts = 30 };

static void expect_shared(MPI_File file, MPI_Offset wanted, int line) {
  MPI_Offset position = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_get_position_shared(file, &position));
  if (position != wanted)
    check_failed(__FILE__, line, "the shared pointer is %lld, should be %lld", (long long)position, (long long)wanted);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void fill(int* record, int number) {
  record[0] = check_rank * kRecords + number;
  for (int i = 1; i < kInts; ++i) record[i] = record[0] * 1000 + i;
}

// Which of the records this is; -1 if it is none.
static int recognised(const int* record) {
  if (record[0] < 0 || record[0] >= check_ranks * kRecords) return -1;
  for (int i = 1; i < kInts; ++i)
    if (record[i] != record[0] * 1000 + i) return -1;
  return record[0];
}

static void pass(int etype_ints, int nonblocking) {
  MPI_Datatype etype;
  MPI_Type_contiguous(etype_ints, MPI_INT, &etype);
  MPI_Type_commit(&etype);
  const int etypes = kInts / etype_ints;
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 12, etype, etype, "native", MPI_INFO_NULL));
  expect_shared(file, 0, __LINE__);
  int record[kInts];
  MPI_Status status;
  MPI_Request request;
  for (int number = 0; number < kRecords; ++number) {
    fill(record, number);
    if (nonblocking) {
      OK(MPI_File_iwrite_shared(file, record, kInts, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
    } else {
      OK(MPI_File_write_shared(file, record, kInts, MPI_INT, &status));
    }
    EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  }
  const MPI_Offset end = (MPI_Offset)check_ranks * kRecords * etypes;
  expect_shared(file, end, __LINE__);
  MPI_Offset own = -1;
  OK(MPI_File_get_position(file, &own));
  EXPECT_EQ(own, 0);
  check_publish(file, MPI_COMM_WORLD);

  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  expect_shared(file, 0, __LINE__);
  int* seen = calloc((size_t)(check_ranks * kRecords), sizeof(int));
  for (int number = 0; number < kRecords; ++number) {
    memset(record, -1, sizeof record);
    if (nonblocking) {
      OK(MPI_File_iread_shared(file, record, kInts, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
    } else {
      OK(MPI_File_read_shared(file, record, kInts, MPI_INT, &status));
    }
    EXPECT_EQ(check_count(&status, MPI_INT), kInts);
    const int which = recognised(record);
    EXPECT(which >= 0, "no record: it begins with %d", record[0]);
    if (which >= 0) ++seen[which];
  }
  MPI_Allreduce(MPI_IN_PLACE, seen, check_ranks * kRecords, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < check_ranks * kRecords; ++i) EXPECT(seen[i] == 1, "record %d was read %d times", i, seen[i]);
  free(seen);
  expect_shared(file, end, __LINE__);

  OK(MPI_File_seek_shared(file, -etypes, MPI_SEEK_CUR));
  expect_shared(file, end - etypes, __LINE__);
  if (check_strict) {
    OK(MPI_File_seek_shared(file, -2 * etypes, MPI_SEEK_END));
    expect_shared(file, end - 2 * etypes, __LINE__);
  }
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  expect_shared(file, 0, __LINE__);
  OK(MPI_File_close(&file));
  MPI_Type_free(&etype);
}

// Many nonblocking accesses at once, and blocking ones of other ranks between them.
static void mixed(void) {
  static int records[kRecords][kInts];
  MPI_Request requests[kRecords];
  MPI_Status statuses[kRecords];
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int number = 0; number < kRecords; ++number) {
    fill(records[number], number);
    if (check_rank % 2 == 0)
      OK(MPI_File_iwrite_shared(file, records[number], kInts, MPI_INT, &requests[number]));
    else
      OK(MPI_File_write_shared(file, records[number], kInts, MPI_INT, MPI_STATUS_IGNORE));
  }
  if (check_rank % 2 == 0) OK(MPI_Waitall(kRecords, requests, statuses));
  expect_shared(file, (MPI_Offset)check_ranks * kRecords * kInts, __LINE__);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    static int image[64][kInts * kRecords];
    EXPECT_EQ(check_load(check_path, image, sizeof image), (long)sizeof(int) * check_ranks * kRecords * kInts);
    static int seen[64 * kRecords];
    for (int i = 0; i < check_ranks * kRecords; ++i) {
      const int which = recognised(&image[0][0] + (size_t)i * kInts);
      EXPECT(which >= 0, "no record at %d", i);
      if (which >= 0) EXPECT(++seen[which] == 1, "record %d is there twice", which);
    }
  }
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  pass(1, 0);
  pass(3, 0);
  pass(1, 1);
  pass(3, 1);
  mixed();
  return check_end();
}
