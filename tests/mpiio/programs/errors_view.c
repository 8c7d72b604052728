// Views that no file can have are refused: displacements that are negative, fall, or overlap in a file that may be
// written (MPI 4.0, section 14.3); the last is allowed where the file is only read. Each on a file newly opened;
// strict: one after another on one file, whose view stays what it was.
#include "check.h"

// Two ints of these displacements and lengths.
static MPI_Datatype two(int first, int first_length, int second) {
  const int lengths[2] = {first_length, 1}, displacements[2] = {first, second};
  MPI_Datatype type;
  MPI_Type_indexed(2, lengths, displacements, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static int set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype) {
  return MPI_File_set_view(file, displacement, etype, filetype, "native", MPI_INFO_NULL);
}

static void refuses(MPI_File file, MPI_Datatype etype, MPI_Datatype type) {
#ifdef MPICH_VERSION
  EXPECT_CLASS(set_view(file, 0, etype, type), MPI_ERR_IO);
#else
  EXPECT_ERROR(set_view(file, 0, etype, type));
#endif
}

static void refused(int amode, MPI_Datatype type) {
  for (int as_etype = 0; as_etype < 2; ++as_etype) {
    MPI_File file = check_open(MPI_COMM_WORLD, check_path, amode);
    refuses(file, as_etype ? type : MPI_INT, type);
    OK(MPI_File_close(&file));
  }
  MPI_Type_free(&type);
}

static void other_arguments(void) {
  MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDWR);
  const int code = set_view(file, -1, MPI_BYTE, MPI_BYTE);
  EXPECT_CLASS(code, MPI_ERR_ARG);
#ifdef MPICH_VERSION
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  EXPECT(strstr(text, "displacement") != NULL, "%s", text);
#endif
  EXPECT_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such representation", MPI_INFO_NULL),
               MPI_ERR_UNSUPPORTED_DATAREP);
  OK(MPI_File_close(&file));
}

static void stays(void) {
  MPI_Offset displacement = -1;
  MPI_Datatype etype, filetype, falling = two(3, 1, 0);
  char representation[MPI_MAX_DATAREP_STRING];
  MPI_File file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDWR);
  OK(set_view(file, 4, MPI_INT, MPI_INT));
  EXPECT_ERROR(set_view(file, -1, MPI_BYTE, MPI_BYTE));
  EXPECT_ERROR(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such representation", MPI_INFO_NULL));
  for (int i = 0; i < 4; ++i) refuses(file, MPI_INT, falling);
  OK(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
  EXPECT_EQ(displacement, 4);
  int found = -1;
  OK(MPI_File_read_at(file, check_rank, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_EQ(found, check_rank);
  OK(MPI_File_close(&file));
  MPI_Type_free(&falling);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_File file = check_open_new();
  OK(set_view(file, 4, MPI_INT, MPI_INT));
  OK(MPI_File_write_at(file, check_rank, &check_rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  other_arguments();
  refused(MPI_MODE_RDWR, two(-2, 1, 2));
  refused(MPI_MODE_RDWR, two(3, 1, 0));
  refused(MPI_MODE_RDWR, two(0, 3, 1));
  refused(MPI_MODE_RDONLY, two(-2, 1, 2));
  refused(MPI_MODE_RDONLY, two(3, 1, 0));

#ifdef MPICH_VERSION  // Open MPI refuses these, too
  MPI_Datatype overlapping = two(0, 2, 1);
  int found[3] = {-1, -1, -1};
  file = check_open(MPI_COMM_WORLD, check_path, MPI_MODE_RDONLY);
  OK(set_view(file, 4, MPI_INT, overlapping));
  if (check_ranks > 1) {
    OK(MPI_File_read_at(file, 0, found, 3, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT(found[0] == 0 && found[1] == 1 && found[2] == 1, "%d %d %d", found[0], found[1], found[2]);
  }
  OK(MPI_File_close(&file));
  MPI_Type_free(&overlapping);
#endif
  if (check_strict) stays();
  return check_end();
}
