// What goes wrong outside of MPI reaches the program as an MPI error with the right class, through the file's error
// handler, and the program goes on. The second argument says which fault.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "programs/check.h"

static int handled = 0, handled_code = 0;

static void handler(MPI_File* file, int* code, ...) {
  (void)file;
  ++handled;
  handled_code = *code;
}

static MPI_File open_atomic(const char* name, int amode) {
  MPI_File file;
  MPI_Errhandler errors;
  OK(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file));
  OK(MPI_File_create_errhandler(handler, &errors));
  OK(MPI_File_set_errhandler(file, errors));
  OK(MPI_Errhandler_free(&errors));
  OK(MPI_File_set_atomicity(file, 1));
  handled = 0;
  return file;
}

// The call that returned `code` called the handler once, and the text says where and why.
static void expect_fault(int code, int wanted_class, const char* part) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  EXPECT_EQ(check_class(code), wanted_class);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(handled_code, code);
  MPI_Error_string(code, text, &length);
  EXPECT(strstr(text, "forebay: ") != NULL && strstr(text, part) != NULL, "the text is: %s", text);
  handled = 0;
}

static char data[1 << 20];

// A limit of the file's size stands for a full file system, as every user can make one.
static void size_limit(void) {
  const struct rlimit limit = {1 << 20, 1 << 20};
  MPI_Status status;
  MPI_File file = open_atomic(check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  expect_fault(MPI_File_write_at(file, (1 << 20) - 4096, data, 8192, MPI_BYTE, &status), MPI_ERR_NO_SPACE, check_path);
  expect_fault(MPI_File_set_size(file, 1 << 21), MPI_ERR_NO_SPACE, check_path);
  // The lock was given back, and the file is as good as before.
  OK(MPI_File_write_at(file, 0, data, 4096, MPI_BYTE, &status));
  EXPECT_EQ(check_count(&status, MPI_BYTE), 4096);
  OK(MPI_File_read_at_all(file, 0, data, 4096, MPI_BYTE, &status));
  EXPECT_EQ(check_count(&status, MPI_BYTE), 4096);
  OK(MPI_File_close(&file));
}

static void full_device(void) {
  MPI_File file = open_atomic("/dev/full", MPI_MODE_WRONLY);
  MPI_Request request = MPI_REQUEST_NULL;
  expect_fault(MPI_File_write_at(file, 0, data, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE, "/dev/full");
  expect_fault(MPI_File_iwrite_at(file, 0, data, 10, MPI_BYTE, &request), MPI_ERR_NO_SPACE, "/dev/full");
  EXPECT(request == MPI_REQUEST_NULL, "there is a request");
  OK(MPI_File_close(&file));
}

static void read_only(void) {
  MPI_File file = open_atomic(check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_close(&file));
  file = open_atomic(check_path, MPI_MODE_RDONLY);
  expect_fault(MPI_File_write_at(file, 0, data, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY, "read only");
  expect_fault(MPI_File_write_at_all(file, 0, data, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY, "read only");
  expect_fault(MPI_File_set_size(file, 10), MPI_ERR_READ_ONLY, "read only");
  OK(MPI_File_close(&file));
}

// SERVER_PID is the lock server, which run.py has started.
static void server_gone(void) {
  MPI_Offset position = -1;
  MPI_File file = open_atomic(check_path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  OK(MPI_File_write_at(file, 10 * check_rank, data, 10, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) kill(atoi(getenv("SERVER_PID")), SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
  // The text names both.
  for (int what = 0; what < 2; ++what) {
    const char* part = what == 0 ? check_path : getenv("FOREBAY_LOCK_SERVERS");
    expect_fault(MPI_File_write_at(file, 10 * check_rank, data, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_IO, part);
    expect_fault(MPI_File_write_all(file, data, 5, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_IO, part);
    expect_fault(MPI_File_write_ordered(file, data, 10, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_IO, part);
  }
  OK(MPI_File_get_position(file, &position));
  EXPECT_EQ(position, 10);
  OK(MPI_File_close(&file));
}

// Of the environment: FOREBAY_MPIIO_LOCK=lists.
static void bad_setting(void) {
  MPI_File file;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  const int code = MPI_File_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  EXPECT_EQ(check_class(code), MPI_ERR_ARG);
  MPI_Error_string(code, text, &length);
  EXPECT(strstr(text, "FOREBAY_MPIIO_LOCK=lists is not list,") != NULL, "the text is: %s", text);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const char* fault = argc > 2 ? argv[2] : "";
  if (strcmp(fault, "size_limit") == 0)
    size_limit();
  else if (strcmp(fault, "full_device") == 0)
    full_device();
  else if (strcmp(fault, "read_only") == 0)
    read_only();
  else if (strcmp(fault, "server_gone") == 0)
    server_gone();
  else if (strcmp(fault, "bad_setting") == 0)
    bad_setting();
  else
    EXPECT(0, "no such fault");
  return check_end();
}
