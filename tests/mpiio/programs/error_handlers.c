// Errors go to the handler of the file; of MPI_FILE_NULL where there is no file. The default returns; a new file
// gets the handler that MPI_FILE_NULL has.
#include "check.h"

static int calls = 0, last_class = MPI_SUCCESS;
static MPI_File last_file;

static void handler(MPI_File* file, int* code, ...) {
  ++calls;
  last_class = check_class(*code);
  last_file = *file;
}

// Makes a success of every error, as the standard allows.
static void forgiving(MPI_File* file, int* code, ...) {
  (void)file;
  ++calls;
  *code = MPI_SUCCESS;
}

static void expect_call(int count, int error_class, MPI_File file, int line) {
  if (calls != count) check_failed(__FILE__, line, "the handler was called %d times, should be %d", calls, count);
  if (count > 0 && last_class != error_class)
    check_failed(__FILE__, line, "the handler got class %d, should be %d", last_class, error_class);
  if (count > 0 && last_file != file) check_failed(__FILE__, line, "the handler got another file");
  calls = 0;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int value = 0;
  MPI_File file;
  MPI_Errhandler errhandler, found;
  MPI_Request request;
  MPI_File_create_errhandler(handler, &errhandler);

  // The default of files.
  MPI_File_get_errhandler(MPI_FILE_NULL, &found);
  EXPECT(found == MPI_ERRORS_RETURN, "the default is to return");
  EXPECT_CLASS(MPI_File_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
  expect_call(0, 0, MPI_FILE_NULL, __LINE__);

  // Set on one file: its errors, and no others.
  file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  MPI_File_get_errhandler(file, &found);
  EXPECT(found == MPI_ERRORS_RETURN, "the default of an open file is to return");
  OK(MPI_File_set_errhandler(file, errhandler));
  EXPECT_CLASS(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  expect_call(1, MPI_ERR_ACCESS, file, __LINE__);
  EXPECT_CLASS(MPI_File_read_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  expect_call(1, MPI_ERR_ACCESS, file, __LINE__);
  EXPECT_CLASS(MPI_File_iread(file, &value, 1, MPI_INT, &request), MPI_ERR_ACCESS);
  if (check_strict) EXPECT_EQ(calls, 1);
  expect_call(calls > 0 ? calls : 1, MPI_ERR_ACCESS, file, __LINE__);
  EXPECT_ERROR(MPI_File_seek(file, -1, MPI_SEEK_SET));
  EXPECT_EQ(calls, 1);
  calls = 0;
  EXPECT_ERROR(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "none such", MPI_INFO_NULL));
  EXPECT_EQ(calls, 1);
  calls = 0;
  OK(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  expect_call(0, 0, file, __LINE__);
  if (check_rank == 0) EXPECT_ERROR(MPI_File_delete(check_name(".none"), MPI_INFO_NULL));
  expect_call(0, 0, file, __LINE__);
  MPI_File_call_errhandler(file, MPI_ERR_IO);
  expect_call(1, MPI_ERR_IO, file, __LINE__);
  OK(MPI_File_close(&file));

  // Set on no file: openings that fail, deletions, and what later files have from their beginning.
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, errhandler));
  EXPECT_CLASS(MPI_File_open(MPI_COMM_WORLD, check_name(".none"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
               MPI_ERR_NO_SUCH_FILE);
  expect_call(1, MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL, __LINE__);
  EXPECT_CLASS(MPI_File_delete(check_name(".none"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  expect_call(1, MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL, __LINE__);
  file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_WRONLY);
  EXPECT_CLASS(MPI_File_read(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  expect_call(1, MPI_ERR_ACCESS, file, __LINE__);
  OK(MPI_File_close(&file));

  // A handler that resets the code: then there is no file all the same.
  OK(MPI_File_create_errhandler(forgiving, &found));
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, found));
  OK(MPI_Errhandler_free(&found));
  MPI_File_open(MPI_COMM_WORLD, check_name(".none"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  EXPECT_EQ(calls, 1);
  OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  return check_end();
}
