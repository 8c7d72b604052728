// Nonblocking accesses, many under way at once, completed in every way that requests can be.
#include "check.h"

enum { kRequests = 10, kInts = 700, kWays = 9 };

static int data[kRequests][kInts], found[kRequests][kInts];

static const char* const way_names[kWays] = {"Wait",    "Test",    "Waitall",  "Waitany",  "Waitsome",
                                             "Testall", "Testany", "Testsome", "backwards"};

static void check_status(int way, MPI_Status* status) {
  const int count = check_count(status, MPI_INT);
  EXPECT(count == kInts, "%s: %d ints", way_names[way], count);
}

static void complete(int way, MPI_Request* requests) {
  MPI_Status statuses[kRequests];
  int indices[kRequests], index, done = 0, flag = 0;
  switch (way) {
    case 0:
      for (int i = 0; i < kRequests; ++i) OK(MPI_Wait(&requests[i], &statuses[i])), check_status(way, &statuses[i]);
      break;
    case 1:
      for (int i = 0; i < kRequests; ++i) {
        for (flag = 0; !flag;) OK(MPI_Test(&requests[i], &flag, &statuses[i]));
        check_status(way, &statuses[i]);
      }
      break;
    case 2:
      OK(MPI_Waitall(kRequests, requests, statuses));
      for (int i = 0; i < kRequests; ++i) check_status(way, &statuses[i]);
      break;
    case 3:
      for (; done < kRequests; ++done) {
        OK(MPI_Waitany(kRequests, requests, &index, &statuses[0]));
        EXPECT(index >= 0 && index < kRequests, "%d", index);
        check_status(way, &statuses[0]);
      }
      OK(MPI_Waitany(kRequests, requests, &index, &statuses[0]));
      EXPECT_EQ(index, MPI_UNDEFINED);
      break;
    case 4:
      while (done < kRequests) {
        int some = 0;
        OK(MPI_Waitsome(kRequests, requests, &some, indices, statuses));
        for (int i = 0; i < some; ++i) check_status(way, &statuses[i]);
        done += some;
      }
      break;
    case 5:
      while (!flag) OK(MPI_Testall(kRequests, requests, &flag, statuses));
      for (int i = 0; i < kRequests; ++i) check_status(way, &statuses[i]);
      break;
    case 6:
      while (done < kRequests) {
        OK(MPI_Testany(kRequests, requests, &index, &flag, &statuses[0]));
        if (flag) check_status(way, &statuses[0]), ++done;
      }
      break;
    case 7:
      while (done < kRequests) {
        int some = 0;
        OK(MPI_Testsome(kRequests, requests, &some, indices, statuses));
        for (int i = 0; i < some; ++i) check_status(way, &statuses[i]);
        done += some;
      }
      break;
    default:
      for (int i = kRequests - 1; i >= 0; --i)
        OK(MPI_Wait(&requests[i], &statuses[i])), check_status(way, &statuses[i]);
  }
  for (int i = 0; i < kRequests; ++i) EXPECT(requests[i] == MPI_REQUEST_NULL, "%s: request %d", way_names[way], i);
}

static void ways(MPI_File file, int way, int use_pointer) {
  MPI_Request requests[kRequests];
  const MPI_Offset own = (MPI_Offset)check_rank * kRequests * kInts;
  for (int i = 0; i < kRequests; ++i)
    for (int j = 0; j < kInts; ++j) data[i][j] = (way * 100 + check_rank * 10 + i) * 1000 + j, found[i][j] = -1;
  OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  for (int i = 0; i < kRequests; ++i) {
    if (use_pointer)
      OK(MPI_File_iwrite(file, data[i], kInts, MPI_INT, &requests[i]));
    else
      OK(MPI_File_iwrite_at(file, own + i * kInts, data[i], kInts, MPI_INT, &requests[i]));
  }
  MPI_Offset position = 0;  // moved when the call returned, whether the data was moved or not
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, own + (use_pointer ? kRequests * kInts : 0));
  complete(way, requests);
  OK(MPI_File_sync(file));
  OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  for (int i = 0; i < kRequests; ++i) {
    if (use_pointer)
      OK(MPI_File_iread(file, found[i], kInts, MPI_INT, &requests[i]));
    else
      OK(MPI_File_iread_at(file, own + i * kInts, found[i], kInts, MPI_INT, &requests[i]));
  }
  complete(way, requests);
  EXPECT_SAME(way_names[way], found, data, sizeof data);
}

// A request that is freed goes on; closing the file comes after it (MPI 4.0, section 14.4.1).
static void freed(void) {
  MPI_File file = check_open_new();
  MPI_Request request;
  OK(MPI_File_iwrite_at(file, (MPI_Offset)check_rank * (MPI_Offset)sizeof data, data, kRequests * kInts, MPI_INT,
                        &request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  OK(MPI_File_iread_at(file, (MPI_Offset)check_rank * (MPI_Offset)sizeof data, found, 1, MPI_INT, &request));
  OK(MPI_Request_free(&request));
  EXPECT(request == MPI_REQUEST_NULL, "a freed request is not null");
  for (int i = 0; i < 3; ++i) {
    int done = 0;
    OK(MPI_File_iread_at(file, (MPI_Offset)check_rank * (MPI_Offset)sizeof data, found, kRequests * kInts, MPI_INT,
                         &request));
    while (!done) {
      int complete_now = 0;
      OK(MPI_Request_get_status(request, &complete_now, MPI_STATUS_IGNORE));
      OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
      EXPECT(!complete_now || done, "a complete request does not test complete");
    }
  }
  EXPECT_SAME("after a freed request", found, data, sizeof data);
  OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_File file = check_open_new();
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int way = 0; way < kWays; ++way)
    for (int use_pointer = 0; use_pointer < 2; ++use_pointer) ways(file, way, use_pointer);
  OK(MPI_File_close(&file));
  freed();
  return check_end();
}
