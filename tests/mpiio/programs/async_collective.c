// Nonblocking collective accesses: several under way on one file, completed in another order than they were begun,
// among other communication of the program.
#include "check.h"

enum { kCalls = 6, kInts = 1200 };

static int data[kCalls][kInts], found[kCalls][kInts];

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Request requests[kCalls];
  MPI_Status statuses[kCalls];
  MPI_Datatype vector, type;
  MPI_Type_vector(kInts / 4, 4, 4 * check_ranks, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, (MPI_Aint)sizeof(int) * kInts * check_ranks, &type);
  MPI_Type_commit(&type);
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * 4 * check_rank, MPI_INT, type, "native", MPI_INFO_NULL));
  for (int call = 0; call < kCalls; ++call)
    for (int i = 0; i < kInts; ++i) data[call][i] = (check_rank * kCalls + call) * 10000 + i;

  for (int call = 0; call < kCalls; ++call) {
    if (call % 2 == 0)
      OK(MPI_File_iwrite_all(file, data[call], kInts, MPI_INT, &requests[call]));
    else
      OK(MPI_File_iwrite_at_all(file, (MPI_Offset)call * kInts, data[call], kInts, MPI_INT, &requests[call]));
    OK(MPI_File_seek(file, (MPI_Offset)(call + 1) * kInts, MPI_SEEK_SET));
  }
  int sum = 0;
  MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(sum, check_ranks * (check_ranks - 1) / 2);
  for (int call = kCalls - 1; call >= 0; --call) {
    OK(MPI_Wait(&requests[call], &statuses[call]));
    EXPECT_EQ(check_count(&statuses[call], MPI_INT), kInts);
  }
  check_publish(file, MPI_COMM_WORLD);

  OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  for (int call = 0; call < kCalls; ++call) OK(MPI_File_iread_all(file, found[call], kInts, MPI_INT, &requests[call]));
  MPI_Offset position = 0;
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, kCalls * kInts);
  OK(MPI_Waitall(kCalls, requests, statuses));
  for (int call = 0; call < kCalls; ++call) EXPECT_EQ(check_count(&statuses[call], MPI_INT), kInts);
  EXPECT_SAME("iread_all", found, data, sizeof data);

  memset(found, 0, sizeof found);
  for (int call = 0; call < kCalls; ++call)
    OK(MPI_File_iread_at_all(file, (MPI_Offset)call * kInts, found[call], kInts, MPI_INT, &requests[call]));
  for (int done = 0; done < kCalls; ++done) {
    int index = -1;
    OK(MPI_Waitany(kCalls, requests, &index, &statuses[0]));
    EXPECT_EQ(check_count(&statuses[0], MPI_INT), kInts);
  }
  EXPECT_SAME("iread_at_all", found, data, sizeof data);
  OK(MPI_File_close(&file));
  MPI_Type_free(&vector);
  MPI_Type_free(&type);
  return check_end();
}
