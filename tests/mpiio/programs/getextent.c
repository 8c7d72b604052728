// Extents of types in the file: as in memory for "native"; as the standard has it for "external32".
#include "check.h"

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_File file = check_open_new();
  const MPI_Datatype types[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_LONG, MPI_BYTE};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    MPI_Aint lower = 0, in_memory = 0, in_file = -1;
    MPI_Type_get_extent(types[i], &lower, &in_memory);
    OK(MPI_File_get_type_extent(file, types[i], &in_file));
    EXPECT_EQ(in_file, in_memory);
  }
  MPI_Datatype vector;
  MPI_Aint lower = 0, in_memory = 0, in_file = -1;
  MPI_Type_vector(3, 2, 5, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  MPI_Type_get_extent(vector, &lower, &in_memory);
  OK(MPI_File_get_type_extent(file, vector, &in_file));
  EXPECT_EQ(in_file, in_memory);
  MPI_Type_free(&vector);
  OK(MPI_File_close(&file));
  return check_end();
}
